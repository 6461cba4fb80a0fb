// The tracking rules over decoded events. Order: form, consent, flag, ids, product.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "key.h"
#include "sightline/v1/event.pb.h"
#include "sightline/v1/verdict.pb.h"

namespace pb = sightline::v1;

constexpr size_t maxEventBytes = 16 * 1024;

inline uint16_t kindBit(pb::HitKind kind) { return uint16_t(1 << kind); }
inline uint16_t warningBit(pb::Warning warning) { return uint16_t(1 << warning); }

/// What the rules say of one event.
class Judgement {
public:
    void judge(const pb::TrackingEvent &event, int64_t nowSeconds);

    pb::Verdict verdict = pb::VERDICT_UNSPECIFIED;
    uint16_t warnings = 0;
    Claim claim;

    struct Violation {
        std::string field;
        pb::ViolationCode code;
        const char *rule;
    };
    std::vector<Violation> violations;

private:
    /// What the two payloads and a track action have in common.
    struct Push;

    void checkForm(const pb::TrackingEvent &event);
    void checkPush(const pb::TrackingEvent &event);
    void checkAction(const pb::TrackAction &action);
    void checkInApp(const pb::TrackingEvent &event);
    void checkPlatform(const pb::TrackingEvent &event, pb::Platform other);
    void checkProduct(const char *field, int product);
    void limit(std::string_view field, const std::string &value, size_t limit);
    template <typename Map>
    void limitMap(const char *field, const Map &entries);

    void judgePush(const pb::TrackingEvent &event);
    void judgeAction(const pb::TrackingEvent &event);
    void judgeInApp(const pb::TrackingEvent &event);
    bool passesFlag(const Push &push);
    bool passesIDs(const Push &push);
    void checkID(const char *path, const char *name, const std::string &id);
    void warn(const Push &push, bool isClassic);

    void reject(std::string_view field, pb::ViolationCode code, const char *rule) {
        verdict = pb::VERDICT_REJECTED;
        violations.push_back({std::string(field), code, rule});
    }

    void accept(uint16_t kinds) {
        verdict = pb::VERDICT_ACCEPTED;
        claim.kinds = kinds;
    }
};

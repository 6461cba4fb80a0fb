// The stable identity of a fact: the first 15 bytes of a SHA-256 over its fields, each preceded by
// its length. With a HitKind's number as the 16th it is a hit id.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sightline/v1/event.pb.h"

/// 15 bytes of the hash and one that is zero, held as words: those compare faster.
struct HitKey {
    static constexpr size_t size = 15;
    std::array<uint64_t, 2> words{};
    bool operator==(const HitKey &other) const {
        return words[0] == other.words[0] && words[1] == other.words[1];
    }
};

template <>
struct std::hash<HitKey> {
    size_t operator()(const HitKey &key) const noexcept {
        return key.words[0];  // It is a hash already.
    }
};

/// What an accepted event claims of the window.
struct Claim {
    HitKey fact;
    /// The fact's own but for an event with an action button.
    HitKey notification;
    uint16_t kinds = 0;
    bool isDismissal = false;

    void pushKeys(std::string_view appID, bool isClassic, std::string_view delivery,
                  std::string_view broadlog, std::string_view button);
    void inAppKeys(const sightline::v1::TrackingEvent &event, std::string_view what);
};

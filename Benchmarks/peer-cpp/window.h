// The window of recent hits, and the admission of a request against it.
#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "rules.h"
#include "sightline/v1/tracking_service.pb.h"

/// The events of a request.
using Events = google::protobuf::RepeatedPtrField<pb::TrackingEvent>;

/// What one accepted event counts.
struct Hit {
    uint32_t index;
    HitKey key;
    uint16_t kinds;
    uint16_t warnings;
};

/// What has been settled since the last answer of a stream.
struct Settled {
    uint64_t sequence = 0;
    int requests = 0;
    uint64_t accepted = 0, suppressed = 0, duplicate = 0, rejected = 0;
    std::vector<pb::EventResult> results;

    void add(Settled &&other);
    void count(pb::Verdict verdict);
};

/// A request after the rules and the window.
struct Admission {
    Settled settled;
    std::vector<Hit> hits;
};

/// Remembers the newest keys; the oldest makes room for the newest.
class Window {
public:
    explicit Window(size_t capacity);
    Admission admit(const Events &events, uint64_t sequence, bool reportAccepted);

private:
    void settle(Judgement &judgement);
    void mark(const HitKey &key, uint16_t marks);
    void insert(const HitKey &key, uint16_t marks);

    const size_t capacity_;
    std::mutex mutex_;
    std::unordered_map<HitKey, uint16_t> marks_;
    std::vector<HitKey> ring_;
    size_t next_ = 0;
};

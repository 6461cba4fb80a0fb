#include "window.h"

#include <ctime>
#include <iterator>

namespace {

constexpr uint16_t clicked = 1 << 14;
constexpr uint16_t dismissed = 1 << 15;

/// What does not fit what the window knows of the notification.
uint16_t funnelWarnings(const Claim &claim, uint16_t granted, uint16_t funnel) {
    uint16_t warnings = 0;
    if ((granted & kindBit(pb::HIT_KIND_OPEN)) != 0) {
        if ((claim.kinds & kindBit(pb::HIT_KIND_CLICK)) == 0 && (funnel & clicked) == 0) {
            warnings |= warningBit(pb::WARNING_OPEN_WITHOUT_CLICK);
        }
        if ((funnel & dismissed) != 0) warnings |= warningBit(pb::WARNING_OPEN_AFTER_DISMISS);
    }
    if ((granted & kindBit(pb::HIT_KIND_IMPRESSION)) != 0 && (funnel & clicked) != 0) {
        warnings |= warningBit(pb::WARNING_IMPRESSION_AFTER_CLICK);
    }
    return warnings;
}

pb::EventResult result(
    const Judgement &judgement, const pb::TrackingEvent &event, uint64_t sequence, int index) {
    pb::EventResult result;
    result.set_sequence(sequence);
    result.set_index(uint32_t(index));
    result.set_event_id(event.event_id());
    result.set_verdict(judgement.verdict);
    for (const auto &violation : judgement.violations) {
        auto *told = result.add_violations();
        told->set_field(violation.field);
        told->set_code(violation.code);
        told->set_description(violation.rule);
    }
    if (judgement.verdict != pb::VERDICT_ACCEPTED) return result;
    for (int kind = 1; kind <= 10; ++kind) {
        if ((judgement.claim.kinds >> kind & 1) != 0) result.add_hits(pb::HitKind(kind));
    }
    for (int warning = 1; warning <= 8; ++warning) {
        if ((judgement.warnings >> warning & 1) != 0) {
            result.add_warnings(pb::Warning(warning));
        }
    }
    return result;
}

}  // namespace

void Settled::add(Settled &&other) {
    sequence = other.sequence;
    requests += other.requests;
    accepted += other.accepted;
    suppressed += other.suppressed;
    duplicate += other.duplicate;
    rejected += other.rejected;
    std::move(other.results.begin(), other.results.end(), std::back_inserter(results));
}

void Settled::count(pb::Verdict verdict) {
    switch (verdict) {
    case pb::VERDICT_ACCEPTED: ++accepted; break;
    case pb::VERDICT_DUPLICATE: ++duplicate; break;
    case pb::VERDICT_REJECTED: ++rejected; break;
    default: ++suppressed;
    }
}

Window::Window(size_t capacity) : capacity_(capacity) {
    marks_.reserve(capacity);
    ring_.reserve(capacity);
}

void Window::mark(const HitKey &key, uint16_t marks) {
    if (auto known = marks_.find(key); known != marks_.end()) {
        known->second |= marks;
    } else {
        insert(key, marks);
    }
}

void Window::insert(const HitKey &key, uint16_t marks) {
    if (ring_.size() < capacity_) {
        ring_.push_back(key);
        marks_.emplace(key, marks);
        return;
    }
    // The oldest key's node becomes the newest's: nothing is allocated.
    auto node = marks_.extract(ring_[next_]);
    node.key() = key;
    node.mapped() = marks;
    marks_.insert(std::move(node));
    ring_[next_] = key;
    next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
}

/// Settles an accepted event against the window, and counts it there.
void Window::settle(Judgement &judgement) {
    Claim &claim = judgement.claim;
    bool isPlain = claim.fact == claim.notification;
    auto place = marks_.find(claim.fact);
    uint16_t known = place == marks_.end() ? 0 : place->second;
    uint16_t funnel = known;
    if (!isPlain) {
        auto notification = marks_.find(claim.notification);
        funnel = notification == marks_.end() ? 0 : notification->second;
    }
    uint16_t granted = claim.kinds & ~known;
    if (granted != 0) judgement.warnings |= funnelWarnings(claim, granted, funnel);
    uint16_t notification = (claim.kinds & kindBit(pb::HIT_KIND_CLICK)) != 0 ? clicked : 0;
    if (claim.isDismissal) notification |= dismissed;
    uint16_t marks = isPlain ? claim.kinds | notification : claim.kinds;
    if (place != marks_.end()) {
        place->second |= marks;
    } else {
        insert(claim.fact, marks);
    }
    if (!isPlain && (funnel | notification) != funnel) mark(claim.notification, notification);
    claim.kinds = granted;
    if (granted == 0) judgement.verdict = pb::VERDICT_DUPLICATE;
}

Admission Window::admit(const Events &events, uint64_t sequence, bool reportAccepted) {
    int count = events.size();
    int64_t now = std::time(nullptr);
    std::vector<Judgement> judgements(static_cast<size_t>(count));
    for (int index = 0; index < count; ++index) {
        judgements[size_t(index)].judge(events[index], now);
    }
    {
        std::lock_guard lock(mutex_);
        for (auto &judgement : judgements) {
            if (judgement.verdict == pb::VERDICT_ACCEPTED) settle(judgement);
        }
    }
    Admission admission;
    admission.settled.sequence = sequence;
    admission.settled.requests = 1;
    admission.hits.reserve(judgements.size());
    for (int index = 0; index < count; ++index) {
        const Judgement &judgement = judgements[size_t(index)];
        admission.settled.count(judgement.verdict);
        bool isAccepted = judgement.verdict == pb::VERDICT_ACCEPTED;
        if (isAccepted) {
            admission.hits.push_back({uint32_t(index), judgement.claim.fact,
                                      judgement.claim.kinds, judgement.warnings});
        }
        if (!isAccepted || reportAccepted) {
            admission.settled.results.push_back(result(judgement, events[index], sequence, index));
        }
    }
    return admission;
}

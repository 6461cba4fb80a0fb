// What the load decides for a stream, and what it learns from its answers.
#include <ctime>

#include "load.h"

static int64_t nowNanos() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool Load::startRequest(Stream &stream) {
    int64_t start;
    if (stream.isIdle) {
        if (stream.sequence > 0) return false;
        start = nowNanos();
    } else if (phase_ == Phase::opening || stream.underWay() >= stream.started.size()) {
        return false;
    } else if (options_.rate > 0) {
        // What was due before the end is sent, however late: it is part of what was asked for.
        if (stream.due.empty()) return false;
        start = stream.due.front();
        stream.due.pop_front();
    } else {
        if (phase_ == Phase::draining) return false;
        start = nowNanos();
    }
    ++stream.sequence;
    stream.started[stream.sequence % stream.started.size()] = start;
    stream.request.prepare(stream.sequence, ids_);
    sent_ += uint64_t(stream.isIdle ? 1 : options_.batch);
    return true;
}

bool Load::isFinished(const Stream &stream) {
    return phase_ == Phase::draining && stream.underWay() == 0 && stream.due.empty();
}

void Load::answered(Stream &stream, const Answer &answer) {
    if (options_.isUnchecked) {
        accepted_ += uint64_t(options_.batch);
    } else {
        accepted_ += answer.accepted;
        others_ += answer.others;
    }
    if (answer.durableSequence <= stream.settled) return;  // The first answer tells limits alone.
    if (answer.durableSequence > stream.sequence) {
        fail(1, "request %llu is settled, of %llu that were sent",
             static_cast<unsigned long long>(answer.durableSequence),
             static_cast<unsigned long long>(stream.sequence));
    }
    ++answers_;
    int64_t now = nowNanos();
    while (stream.settled < answer.durableSequence) {
        int64_t start = stream.started[++stream.settled % stream.started.size()];
        bool isMeasured = phase_ == Phase::measuring || phase_ == Phase::draining;
        if (isMeasured && start >= start_ && start < end_ && !stream.isIdle) {
            latencies_.add(uint64_t(now - start));
        }
    }
    if (stream.isIdle && phase_ == Phase::opening) --idleUnanswered_;
    stream.connection.wake(stream);
}

void Load::ended(Stream &) { --unended_; }

void Load::opened(Connection &connection) {
    --unopened_;
    for (auto &stream : connection.streams) {
        if (stream->isIdle) connection.wake(*stream);
    }
}

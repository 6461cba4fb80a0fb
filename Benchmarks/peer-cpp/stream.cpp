#include "stream.h"

#include "messages.h"

namespace {

constexpr int maxUnderWay = 64;
constexpr uint32_t maxRequestBytes = 1 << 20;

}  // namespace

EventStream::EventStream(Window &window, Journal *journal)
    : window_(window), journal_(journal) {
    pb::StreamEventsResponse greeting;
    auto *limits = greeting.mutable_limits();
    limits->set_max_events(maxEvents);
    limits->set_max_request_bytes(maxRequestBytes);
    limits->set_max_event_bytes(maxEventBytes);
    limits->set_max_unacknowledged_requests(maxUnderWay);
    encode(greeting, outgoing_);
    isWriting_ = true;
    StartWrite(&outgoing_);
    StartRead(&incoming_);
}

void EventStream::OnReadDone(bool ok) {
    if (ok && admit()) {
        {
            std::lock_guard lock(mutex_);
            isReadingPaused_ = underWay_ >= maxUnderWay;
            if (isReadingPaused_) return;
        }
        StartRead(&incoming_);
        return;
    }
    Step step;
    {
        std::lock_guard lock(mutex_);
        isReadingOver_ = true;
        step = nextStep();
    }
    take(step);
}

/// Decodes a request, and takes it into the journal or settles it; false where it ends the stream.
bool EventStream::admit() {
    auto *request = decode<pb::StreamEventsRequest>(incoming_);
    if (request == nullptr) {
        refuse(grpc::StatusCode::INTERNAL, "the request is no StreamEventsRequest");
        return false;
    }
    if (request->sequence() <= lastSequence_) {
        refuse(grpc::StatusCode::INVALID_ARGUMENT, "sequence does not rise");
        return false;
    }
    if (request->events_size() > maxEvents) {
        refuse(grpc::StatusCode::INVALID_ARGUMENT, "more than 2000 events: send fewer");
        return false;
    }
    if (lastSequence_ == 0) reportAccepted_ = request->options().report_accepted();
    lastSequence_ = request->sequence();
    Admission admission = window_.admit(request->events(), lastSequence_, reportAccepted_);
    {
        std::lock_guard lock(mutex_);
        ++underWay_;
    }
    if (journal_ == nullptr) {
        settle(std::move(admission.settled));
    } else {
        journal_->append(this, incoming_, std::move(admission));
    }
    return true;
}

void EventStream::refuse(grpc::StatusCode code, std::string message) {
    std::lock_guard lock(mutex_);
    status_ = grpc::Status(code, std::move(message));
}

void EventStream::settle(Settled &&settled) {
    Step step;
    {
        std::lock_guard lock(mutex_);
        settled_.add(std::move(settled));
        step = nextStep();
    }
    take(step);
}

void EventStream::OnWriteDone(bool ok) {
    Step step;
    {
        std::lock_guard lock(mutex_);
        isWriting_ = false;
        if (!ok) isBroken_ = true;
        step = nextStep();
    }
    take(step);
}

/// Decides what is next, and takes what has to be told; called under the lock.
EventStream::Step EventStream::nextStep() {
    Step step;
    if (isWriting_ || isFinished_) return step;
    if (settled_.requests > 0) {
        underWay_ -= settled_.requests;
        if (!isBroken_) {
            encodeAnswer();
            step.writes = isWriting_ = true;
        }
        settled_ = Settled();
    }
    step.resumesReading = isReadingPaused_ && underWay_ < maxUnderWay;
    if (step.resumesReading) isReadingPaused_ = false;
    step.finishes = isFinished_ = isReadingOver_ && underWay_ == 0 && !isWriting_;
    return step;
}

void EventStream::encodeAnswer() {
    pb::StreamEventsResponse response;
    response.set_durable_sequence(settled_.sequence);
    tell(std::move(settled_), response);
    outgoing_.Clear();
    encode(response, outgoing_);
}

/// The last call may end the stream, and delete it. Reading goes on last: until it does, the stream
/// does not end.
void EventStream::take(Step step) {
    if (step.writes) StartWrite(&outgoing_);
    if (step.resumesReading) StartRead(&incoming_);
    if (step.finishes) Finish(status_);
}

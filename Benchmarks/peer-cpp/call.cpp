#include "call.h"

#include "messages.h"

EventCall::EventCall(
    Window &window, Journal *journal, grpc::ByteBuffer bytes, grpc::ByteBuffer *response)
    : request_(std::move(bytes)), response_(response) {
    auto *request = decode<pb::RecordEventsRequest>(request_);
    if (request == nullptr) {
        Finish({grpc::StatusCode::INTERNAL, "the request is no RecordEventsRequest"});
    } else if (request->events_size() > maxEvents) {
        Finish({grpc::StatusCode::INVALID_ARGUMENT, "more than 2000 events: send fewer"});
    } else {
        Admission admission = window.admit(request->events(), 0, true);
        if (journal == nullptr) {
            settle(std::move(admission.settled));
        } else {
            journal->append(this, request_, std::move(admission));
        }
    }
}

void EventCall::settle(Settled &&settled) {
    pb::RecordEventsResponse response;
    tell(std::move(settled), response);
    encode(response, *response_);
    Finish(grpc::Status::OK);
}

// Sends ten events on one stream, and reads answers until all are durable.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "sightline/v1/tracking_service.grpc.pb.h"

namespace v1 = sightline::v1;
using Stream = grpc::ClientReaderWriter<v1::StreamEventsRequest, v1::StreamEventsResponse>;

constexpr uint64_t requests = 10;

static v1::StreamEventsRequest request(int64_t run, uint64_t sequence) {
    std::ostringstream id;
    id << 'h' << std::hex << run << std::setw(2) << std::setfill('0') << sequence;
    v1::StreamEventsRequest request;
    request.set_sequence(sequence);
    v1::TrackingEvent *event = request.add_events();
    event->set_event_id(std::to_string(run) + "-" + std::to_string(sequence));
    v1::TrackAction *action = event->mutable_track_action();
    action->set_delivery_id("56c4");
    action->set_broadlog_id(id.str());
    action->set_action(v1::ACTION_OPEN);
    return request;
}

// Sends the requests and half-closes; where it fails, the status has the reason.
static void send(Stream &stream) {
    const int64_t run = std::chrono::system_clock::now().time_since_epoch().count();
    for (uint64_t sequence = 1; sequence <= requests; ++sequence) {
        if (!stream.Write(request(run, sequence))) return;
    }
    stream.WritesDone();
}

int main(int, char **arguments) {
    auto stub = v1::TrackingService::NewStub(
        grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    auto stream = stub->StreamEvents(&context);
    std::thread sender([&] { send(*stream); });
    uint64_t durable = 0, accepted = 0;
    v1::StreamEventsResponse answer;
    while (stream->Read(&answer)) {
        durable = answer.durable_sequence();
        accepted += answer.tally().accepted();
    }
    sender.join();
    const grpc::Status status = stream->Finish();
    if (!status.ok()) {
        std::cerr << status.error_message() << '\n';
        return 1;
    }
    std::cout << "durable up to " << durable << ", " << accepted << " accepted\n";
}

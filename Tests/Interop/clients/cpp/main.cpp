// A C++ gRPC client with the settings that gRPC has by itself: it sends requests at a steady rate
// on one stream, reads every answer, and fails unless the watermark has reached its last request.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "sightline/v1/tracking_service.grpc.pb.h"

namespace {

namespace pb = sightline::v1;
using Clock = std::chrono::system_clock;
using Stream = grpc::ClientReaderWriter<pb::StreamEventsRequest, pb::StreamEventsResponse>;

constexpr uint64_t requestsPerSecond = 200;

pb::StreamEventsRequest request(uint64_t sequence, Clock::time_point started) {
    char id[64];
    std::snprintf(id, sizeof id, "h%llx%06llx",
                  static_cast<unsigned long long>(started.time_since_epoch().count()),
                  static_cast<unsigned long long>(sequence));
    pb::StreamEventsRequest request;
    request.set_sequence(sequence);
    pb::TrackAction *action = request.add_events()->mutable_track_action();
    action->set_delivery_id("1f");
    action->set_broadlog_id(id);
    action->set_action(pb::ACTION_OPEN);
    return request;
}

/// Sends the requests, each at its time, and ends the client's side.
void send(Stream &stream, uint64_t total) {
    const auto started = Clock::now();
    for (uint64_t sequence = 1; sequence <= total; ++sequence) {
        std::this_thread::sleep_until(
            started + std::chrono::milliseconds(sequence * 1000 / requestsPerSecond));
        if (!stream.Write(request(sequence, started))) return;  // The status has the reason.
    }
    stream.WritesDone();
}

int run(const std::string &target, uint64_t total) {
    auto channel = grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
    auto stub = pb::TrackingService::NewStub(channel);
    grpc::ClientContext context;
    auto stream = stub->StreamEvents(&context);
    std::thread sender([&] { send(*stream, total); });
    uint64_t answers = 0, accepted = 0, durable = 0;
    pb::StreamEventsResponse answer;
    while (stream->Read(&answer)) {
        ++answers;
        accepted += answer.tally().accepted();
        durable = answer.durable_sequence();
    }
    sender.join();
    const grpc::Status status = stream->Finish();
    std::printf("{\"requests\": %llu, \"answers\": %llu, \"accepted\": %llu, \"durable\": %llu}\n",
                static_cast<unsigned long long>(total), static_cast<unsigned long long>(answers),
                static_cast<unsigned long long>(accepted),
                static_cast<unsigned long long>(durable));
    if (!status.ok()) {
        std::fprintf(stderr, "cpp-client: after %llu answers: %d %s\n",
                     static_cast<unsigned long long>(answers),
                     static_cast<int>(status.error_code()), status.error_message().c_str());
    }
    return status.ok() && durable == total ? 0 : 1;
}

}  // namespace

int main(int count, char **arguments) {
    const int seconds = count == 3 ? std::atoi(arguments[2]) : 60;
    if (count < 2 || count > 3 || seconds < 1) {
        std::fprintf(stderr, "usage: cpp-client HOST:PORT [SECONDS]\n");
        return 64;
    }
    return run(arguments[1], static_cast<uint64_t>(seconds) * requestsPerSecond);
}

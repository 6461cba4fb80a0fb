// The C++ peer: what a good engineer would write with gRPC's callback interface to take tracking
// events in. It does the benchmarked part of Sightline's job and nothing else.
#include <grpcpp/grpcpp.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "call.h"
#include "journal.h"
#include "sightline/v1/tracking_service.grpc.pb.h"
#include "stream.h"

namespace {

constexpr size_t windowCapacity = 2'000'000;
constexpr int maxRequestBytes = 1 << 20;
constexpr int windowBytes = 1 << 20;

class TrackingService final
    : public pb::TrackingService::WithRawCallbackMethod_StreamEvents<
          pb::TrackingService::WithRawCallbackMethod_RecordEvents<pb::TrackingService::Service>> {
public:
    explicit TrackingService(Journal *journal) : window_(windowCapacity), journal_(journal) {}

    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> *StreamEvents(
        grpc::CallbackServerContext *) override {
        return new EventStream(window_, journal_);
    }

    grpc::ServerUnaryReactor *RecordEvents(
        grpc::CallbackServerContext *, const grpc::ByteBuffer *request,
        grpc::ByteBuffer *response) override {
        return new EventCall(window_, journal_, *request, response);
    }

private:
    Window window_;
    Journal *journal_;
};

int usage(const char *what) {
    std::fprintf(stderr,
                 "peer-cpp: %s\nusage: peer-cpp [--listen HOST:PORT] [--mode discard|durable] "
                 "[--file FILE]\n",
                 what);
    return 64;
}

int serve(const std::string &listen, Journal *journal) {
    TrackingService service(journal);
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(maxRequestBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, windowBytes);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 100);
    builder.RegisterService(&service);
    std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
    if (server == nullptr || port == 0) return usage("the address is taken or wrong");
    std::printf("listening on %s:%d\n", listen.substr(0, listen.rfind(':')).c_str(), port);
    std::fflush(stdout);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    int signal = 0;
    sigwait(&signals, &signal);
    server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
    std::fflush(stdout);
    std::_Exit(0);  // The journal's thread has no end of its own.
}

}  // namespace

int main(int count, char **arguments) {
    std::map<std::string, std::string> options{
        {"--listen", "127.0.0.1:0"}, {"--mode", "discard"}, {"--file", ""}};
    for (int index = 1; index < count; index += 2) {
        auto option = options.find(arguments[index]);
        if (option == options.end() || index + 1 == count) return usage(arguments[index]);
        option->second = arguments[index + 1];
    }
    bool isDurable = options["--mode"] == "durable";
    if (!isDurable && options["--mode"] != "discard") return usage("--mode: discard or durable");
    if (isDurable && options["--file"].empty()) return usage("durable needs --file");
    // Before any thread starts, so that all of them leave the signals to sigwait.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::unique_ptr<Journal> journal;
    if (isDurable) journal = std::make_unique<Journal>(options["--file"]);
    return serve(options["--listen"], journal.release());
}

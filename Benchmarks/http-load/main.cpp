// The load: a closed loop over all connections, what is measured, and the line of JSON.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "../load/histogram.h"
#include "../load/process.h"
#include "connection.h"

namespace {

/// How long a server may take to answer anything at all.
constexpr int patienceMillis = 60'000;

ProcessUse use(const std::vector<int> &pids) {
    ProcessUse sum;
    for (int pid : pids) {
        ProcessUse one = ProcessUse::of(pid);
        sum.cpuSeconds += one.cpuSeconds;
        sum.peakKiB += one.peakKiB;
        sum.residentKiB += one.residentKiB;
    }
    return sum;
}

/// Offers TLS 1.3 as phones do, never resumes, and does not look at the certificate.
SSL_CTX *makeContext() {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return context;
}

struct Measurement {
    Histogram latencies;
    uint64_t accepted = 0, others = 0;
    int64_t start = 0, end = 0;
    ProcessUse serverAtStart, serverAtEnd, ownAtStart, ownAtEnd;
};

class Loop {
public:
    explicit Loop(const Options &options)
        : options_(options), context_(options.isTLS ? makeContext() : nullptr),
          epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        for (int number = 0; number < options.connections; ++number) {
            connections_.push_back(std::make_unique<Connection>(options_, context_, number));
        }
    }

    Measurement run() {
        for (auto &connection : connections_) connection->begin(ids_, epoll_);
        underWay_ = connections_.size();
        int64_t measuring = nowNanos() + int64_t(options_.warmup * 1e9);
        while (nowNanos() < measuring) step();
        m_.serverAtStart = use(options_.pids);
        m_.ownAtStart = use({getpid()});
        m_.start = nowNanos();
        isMeasuring_ = true;
        int64_t end = m_.start + int64_t(options_.seconds * 1e9);
        while (nowNanos() < end) step();
        isMeasuring_ = false;
        m_.end = nowNanos();
        m_.serverAtEnd = use(options_.pids);
        m_.ownAtEnd = use({getpid()});
        isEnding_ = true;
        while (underWay_ > 0) step();
        return m_;
    }

    uint64_t refused() const { return refused_; }

private:
    void step() {
        epoll_event events[256];
        int count = epoll_wait(epoll_, events, 256, patienceMillis);
        if (count == 0) fail(1, "no answer in %d s", patienceMillis / 1000);
        for (int index = 0; index < std::max(count, 0); ++index) {
            proceed(*static_cast<Connection *>(events[index].data.ptr));
        }
    }

    void proceed(Connection &connection) {
        Answer answer;
        while (connection.proceed(answer)) {
            note(answer);
            if (isEnding_) {
                --underWay_;
                return;
            }
            connection.begin(ids_, epoll_);
        }
    }

    void note(const Answer &answer) {
        uint64_t others = uint64_t(options_.batch) - std::min<uint64_t>(
            answer.accepted, uint64_t(options_.batch));
        if (others > 0 && refused_ == 0) {
            std::fprintf(stderr, "http-load: %d, %llu of %d accepted: %.500s\n", answer.status,
                         static_cast<unsigned long long>(answer.accepted), options_.batch,
                         answer.body.c_str());
        }
        refused_ += others;
        if (!isMeasuring_) return;
        m_.accepted += answer.accepted;
        m_.others += others;
        m_.latencies.add(uint64_t(answer.nanos));
    }

    const Options options_;
    SSL_CTX *context_;
    int epoll_;
    IDs ids_;
    std::vector<std::unique_ptr<Connection>> connections_;
    size_t underWay_ = 0;
    bool isMeasuring_ = false, isEnding_ = false;
    uint64_t refused_ = 0;
    Measurement m_;
};

void report(const Options &options, const Measurement &m, uint64_t refused) {
    double seconds = double(m.end - m.start) / 1e9, events = double(m.accepted);
    double cpu = m.serverAtEnd.cpuSeconds - m.serverAtStart.cpuSeconds;
    double own = m.ownAtEnd.cpuSeconds - m.ownAtStart.cpuSeconds;
    auto each = [events](double total) { return events > 0 ? total / events : 0; };
    std::printf(
        "{\"ok\":%s,\"kind\":\"%s\",\"connections\":%d,\"batch\":%d,\"seconds\":%.3f,"
        "\"events\":%.0f,\"events_per_s\":%.0f,\"latency_us\":{\"count\":%llu,\"p50\":%.1f,"
        "\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f},\"server_cpu_us_per_event\":%.3f,"
        "\"server_cores\":%.2f,\"server_peak_mib\":%.1f,\"server_resident_mib\":%.1f,"
        "\"generator_cpu_us_per_event\":%.3f,\"not_accepted\":%llu}\n",
        refused == 0 ? "true" : "false", options.kind.c_str(), options.connections, options.batch,
        seconds, events, events / seconds,
        static_cast<unsigned long long>(m.latencies.count()),
        double(m.latencies.quantile(0.5)) / 1e3, double(m.latencies.quantile(0.99)) / 1e3,
        double(m.latencies.quantile(0.999)) / 1e3, double(m.latencies.max()) / 1e3,
        each(cpu * 1e6), cpu / seconds, double(m.serverAtEnd.peakKiB) / 1024,
        double(m.serverAtEnd.residentKiB) / 1024, each(own * 1e6),
        static_cast<unsigned long long>(refused));
}

}  // namespace

int main(int count, char **arguments) {
    Options options = parseOptions(count, arguments);
    Loop loop(options);
    Measurement measurement = loop.run();
    report(options, measurement, loop.refused());
    return loop.refused() == 0 ? 0 : 1;
}

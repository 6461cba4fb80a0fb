// The line of JSON.
#include <cstdio>

#include "load.h"

bool Load::allAccepted() const { return accepted_ == sent_ && others_ == 0; }

void Load::report() const {
    double seconds = double(end_ - start_) / 1e9;
    double events = double(acceptedAtEnd_ - acceptedAtStart_);
    double answers = double(answersAtEnd_ - answersAtStart_);
    double cpu = serverAtEnd_.cpuSeconds - serverAtStart_.cpuSeconds;
    double own = ownAtEnd_.cpuSeconds - ownAtStart_.cpuSeconds;
    int idle = options_.idleConnections * options_.idleStreams;
    auto each = [events](double total) { return events > 0 ? total / events : 0; };
    std::printf(
        "{\"ok\":%s,\"loop\":\"%s\",\"mix\":\"%s\",\"event_bytes\":%d,\"request_bytes\":%zu,"
        "\"connections\":%d,\"streams\":%d,\"batch\":%d,\"window\":%d,\"rate\":%.0f,",
        allAccepted() ? "true" : "false", options_.rate > 0 ? "open" : "closed",
        options_.mix.c_str(), options_.eventBytes, active_[0]->request.size() - 5,
        options_.connections, options_.streams, options_.batch, options_.window, options_.rate);
    std::printf(
        "\"seconds\":%.3f,\"events\":%.0f,\"events_per_s\":%.0f,\"requests_per_answer\":%.2f,"
        "\"latency_us\":{\"count\":%llu,\"mean\":%.1f,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,"
        "\"max\":%.1f},",
        seconds, events, events / seconds,
        answers > 0 ? events / options_.batch / answers : 0.0,
        static_cast<unsigned long long>(latencies_.count()), latencies_.mean() / 1e3,
        double(latencies_.quantile(0.5)) / 1e3, double(latencies_.quantile(0.99)) / 1e3,
        double(latencies_.quantile(0.999)) / 1e3, double(latencies_.max()) / 1e3);
    std::printf(
        "\"server_cpu_us_per_event\":%.3f,\"server_cores\":%.2f,\"server_peak_mib\":%.1f,"
        "\"server_resident_mib\":%.1f,\"generator_cpu_us_per_event\":%.3f,"
        "\"idle_streams\":%d,\"idle_kib_per_stream\":%.1f,\"sent\":%llu,\"accepted\":%llu,"
        "\"not_accepted\":%llu}\n",
        each(cpu * 1e6), cpu / seconds, double(serverAtEnd_.peakKiB) / 1024,
        double(serverAtEnd_.residentKiB) / 1024, each(own * 1e6), idle,
        idle > 0 ? (double(serverOpened_.residentKiB) - double(serverBefore_.residentKiB)) / idle
                 : 0,
        static_cast<unsigned long long>(sent_), static_cast<unsigned long long>(accepted_),
        static_cast<unsigned long long>(others_));
}

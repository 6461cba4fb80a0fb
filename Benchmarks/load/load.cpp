#include "load.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace {

/// How long the server may take to answer what is under way at the end, or to open.
constexpr int64_t patience = 60'000'000'000;
/// An open loop sends what is due in steps no finer than this.
constexpr int64_t tick = 50'000;
/// Connections from one local address: servers bound how many they take from one.
constexpr int connectionsPerAddress = 50;

int64_t nowNanos() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Load::Load(const Options &options)
    : options_(options),
      request_(options.mix, options.batch, options.eventBytes, options.callers > 0),
      idleRequest_(options.mix, 1, options.eventBytes) {
    prctl(PR_SET_TIMERSLACK, 1);
}

int Load::run() {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    serverBefore_ = ProcessUse::of(options_.pid);
    connectAll();
    phaseStart_ = nowNanos();
    while (unended_ > 0) step();
    report();
    return allAccepted() ? 0 : 1;
}

void Load::connectAll() {
    int count = options_.connections + options_.idleConnections;
    bool isLocal = options_.host == "127.0.0.1";
    for (int index = 0; index < count; ++index) {
        bool isIdle = index >= options_.connections;
        std::string source;
        if (isLocal && count > connectionsPerAddress) {
            source = "127.0.1." + std::to_string(1 + index / connectionsPerAddress % 250);
        }
        auto connection = std::make_unique<Connection>(*this, options_, source);
        int streams = isIdle ? options_.idleStreams : options_.streams;
        for (int place = 0; place < streams; ++place) {
            connection->addStream(isIdle ? idleRequest_ : request_,
                                  isIdle ? 1 : options_.window, isIdle);
            Stream *stream = connection->streams.back().get();
            if (isIdle) ++idleUnanswered_; else active_.push_back(stream);
            ++unended_;
        }
        ++unopened_;
        watch(*connection);
        connections_.push_back(std::move(connection));
    }
}

void Load::watch(Connection &connection) {
    epoll_event event{};
    event.events = EPOLLIN | (connection.wantsWrite ? uint32_t(EPOLLOUT) : 0);
    event.data.ptr = &connection;
    int operation = connection.isListed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(epoll_, operation, connection.fd, &event) != 0) {
        fail(1, "epoll_ctl: %s", std::strerror(errno));
    }
    connection.isListed = true;
}

void Load::step() {
    epoll_event events[256];
    int64_t wait = timeout(nowNanos());
    timespec limit{wait / 1'000'000'000, wait % 1'000'000'000};
    int count = epoll_pwait2(epoll_, events, 256, &limit, nullptr);
    if (count < 0 && errno != EINTR) fail(1, "epoll_pwait2: %s", std::strerror(errno));
    for (int index = 0; index < count; ++index) {
        auto &connection = *static_cast<Connection *>(events[index].data.ptr);
        bool wantedWrite = connection.wantsWrite;
        if ((events[index].events & ~uint32_t(EPOLLOUT)) != 0) connection.receive();
        if ((events[index].events & EPOLLOUT) != 0) connection.pump();
        if (connection.wantsWrite != wantedWrite) watch(connection);
    }
    int64_t now = nowNanos();
    advance(now);
    if (options_.rate > 0) sendDue(now);
}

int64_t Load::timeout(int64_t now) const {
    int64_t limit = 100'000'000;
    if (phase_ == Phase::warmup || phase_ == Phase::measuring) {
        if (options_.rate > 0) limit = std::max(nextDue_ - now, tick);
        limit = std::min<int64_t>(limit, 10'000'000);
    }
    return limit;
}

/// Goes on to the next phase where its time has come.
void Load::advance(int64_t now) {
    bool isLate = now - phaseStart_ > patience;
    switch (phase_) {
    case Phase::opening:
        if (isLate) fail(1, "the server did not open every stream in 60 s");
        if (unopened_ > 0 || idleUnanswered_ > 0) return;
        serverOpened_ = ProcessUse::of(options_.pid);
        phase_ = Phase::warmup;
        phaseStart_ = nextDue_ = now;
        if (options_.warmup == 0) beginMeasuring(now);
        for (Stream *stream : active_) stream->connection.wake(*stream);
        for (auto &connection : connections_) {
            connection->pump();
            watch(*connection);
        }
        return;
    case Phase::warmup:
        if (double(now - phaseStart_) >= options_.warmup * 1e9) beginMeasuring(now);
        return;
    case Phase::measuring:
        if (options_.events > 0 ? accepted_ + others_ - acceptedAtStart_ >= options_.events
                                : double(now - start_) >= options_.seconds * 1e9) {
            beginDraining(now);
        }
        return;
    case Phase::draining:
        if (isLate) failUnended();
    }
}

/// Tells of the first stream that has not ended what it waits for.
void Load::failUnended() const {
    for (const auto &connection : connections_) {
        for (const auto &stream : connection->streams) {
            if (stream->isEnded) continue;
            fail(1, "%zu streams had not ended after 60 s; stream %u has %llu of %llu requests "
                 "settled, %zu of %zu bytes of the last one sent, %lld bytes of its window left, "
                 "and is %s", unended_, stream->id,
                 static_cast<unsigned long long>(stream->settled),
                 static_cast<unsigned long long>(stream->sequence), stream->offset,
                 stream->request.size(), static_cast<long long>(stream->sendWindow),
                 stream->isHalfClosed ? "half closed" : "open");
        }
    }
}

void Load::beginMeasuring(int64_t now) {
    phase_ = Phase::measuring;
    phaseStart_ = start_ = now;
    acceptedAtStart_ = accepted_;
    answersAtStart_ = answers_;
    serverAtStart_ = ProcessUse::of(options_.pid);
    ownAtStart_ = ProcessUse::of(getpid());
}

void Load::beginDraining(int64_t now) {
    serverAtEnd_ = ProcessUse::of(options_.pid);
    ownAtEnd_ = ProcessUse::of(getpid());
    acceptedAtEnd_ = accepted_;
    answersAtEnd_ = answers_;
    phase_ = Phase::draining;
    phaseStart_ = end_ = now;
    for (auto &connection : connections_) {
        for (auto &stream : connection->streams) connection->wake(*stream);
        connection->pump();
        watch(*connection);
    }
}

/// Gives the streams the requests of an open loop whose time has come, in turn.
void Load::sendDue(int64_t now) {
    if (phase_ != Phase::warmup && phase_ != Phase::measuring) return;
    double interval = double(options_.batch) / options_.rate * 1e9;
    int64_t begin = nextDue_;
    uint64_t count = 0;
    while (nextDue_ <= now) {
        Stream &stream = *active_[dueCount_++ % active_.size()];
        stream.due.push_back(nextDue_);
        stream.connection.wake(stream);
        nextDue_ = begin + int64_t(double(++count) * interval);
    }
    if (count == 0) return;
    for (auto &connection : connections_) {
        bool wantedWrite = connection->wantsWrite;
        connection->pump();
        if (connection->wantsWrite != wantedWrite) watch(*connection);
    }
}

// The load: which request is sent when, what is measured, and when it is over.
#pragma once

#include <memory>
#include <vector>

#include "connection.h"
#include "histogram.h"
#include "options.h"
#include "process.h"

class Load final : public Driver {
public:
    explicit Load(const Options &options);

    /// Runs from the first connection to the last trailer, and prints the report.
    ///
    /// \returns the program's exit code: 0 where every event was accepted.
    int run();

    bool startRequest(Stream &stream) override;
    bool isFinished(const Stream &stream) override;
    void answered(Stream &stream, const Answer &answer) override;
    void ended(Stream &stream) override;
    void opened(Connection &connection) override;

private:
    enum class Phase { opening, warmup, measuring, draining };

    void connectAll();
    void step();
    void advance(int64_t now);
    void beginMeasuring(int64_t now);
    void beginDraining(int64_t now);
    void sendDue(int64_t now);
    int64_t timeout(int64_t now) const;
    void watch(Connection &connection);
    void report() const;
    void failUnended() const;
    bool allAccepted() const;

    const Options options_;
    IDs ids_;
    Request request_;
    Request idleRequest_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<Stream *> active_;
    int epoll_ = -1;
    Phase phase_ = Phase::opening;
    size_t unopened_ = 0;
    size_t idleUnanswered_ = 0;
    size_t unended_ = 0;
    int64_t phaseStart_ = 0;
    int64_t nextDue_ = 0;
    uint64_t dueCount_ = 0;
    uint64_t sent_ = 0;
    uint64_t accepted_ = 0;
    uint64_t others_ = 0;
    uint64_t answers_ = 0;

    // Of the measured part alone.
    Histogram latencies_;
    int64_t start_ = 0;
    int64_t end_ = INT64_MAX;
    uint64_t acceptedAtStart_ = 0;
    uint64_t acceptedAtEnd_ = 0;
    uint64_t answersAtStart_ = 0;
    uint64_t answersAtEnd_ = 0;
    ProcessUse serverBefore_;
    ProcessUse serverOpened_;
    ProcessUse serverAtStart_;
    ProcessUse serverAtEnd_;
    ProcessUse ownAtStart_;
    ProcessUse ownAtEnd_;
};

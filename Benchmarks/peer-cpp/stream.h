// One StreamEvents call as a reactor. It takes the requests' own bytes, which the journal keeps,
// and decodes them itself.
#pragma once

#include <grpcpp/grpcpp.h>

#include <mutex>

#include "journal.h"
#include "window.h"

class EventStream final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>, public Settler {
public:
    /// Without a journal, requests are settled as soon as they are admitted.
    EventStream(Window &window, Journal *journal);

    void OnReadDone(bool ok) override;
    void OnWriteDone(bool ok) override;
    void OnDone() override { delete this; }

    /// Tells the client, in one answer with all else that it has yet to be told.
    void settle(Settled &&settled) override;

private:
    /// What is to be done once the lock is released.
    struct Step {
        bool writes = false;
        bool finishes = false;
        bool resumesReading = false;
    };

    bool admit();
    Step nextStep();
    void encodeAnswer();
    void take(Step step);
    void refuse(grpc::StatusCode code, std::string message);

    Window &window_;
    Journal *journal_;
    grpc::ByteBuffer incoming_;
    grpc::ByteBuffer outgoing_;
    uint64_t lastSequence_ = 0;
    bool reportAccepted_ = false;

    std::mutex mutex_;
    Settled settled_;
    int underWay_ = 0;
    bool isWriting_ = false;
    bool isBroken_ = false;
    bool isReadingOver_ = false;
    bool isReadingPaused_ = false;
    bool isFinished_ = false;
    grpc::Status status_;
};

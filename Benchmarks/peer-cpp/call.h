// One RecordEvents call as a reactor. It takes the request's own bytes, which the journal keeps, and
// decodes them itself.
#pragma once

#include <grpcpp/grpcpp.h>

#include "journal.h"
#include "window.h"

class EventCall final : public grpc::ServerUnaryReactor, public Settler {
public:
    /// Without a journal, the request is settled as soon as it is admitted.
    EventCall(Window &window, Journal *journal, grpc::ByteBuffer request,
              grpc::ByteBuffer *response);

    void OnDone() override { delete this; }
    void settle(Settled &&settled) override;

private:
    grpc::ByteBuffer request_;
    grpc::ByteBuffer *response_;
};

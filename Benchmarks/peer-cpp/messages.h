// Requests decoded from a call's own bytes, and answers encoded into them.
#pragma once

#include <google/protobuf/arena.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <memory>

#include "window.h"

constexpr int maxEvents = 2000;

/// Each thread decodes into memory of its own, which the next request uses again.
inline google::protobuf::Arena &threadArena() {
    static constexpr size_t blockBytes = 256 << 10;
    thread_local std::unique_ptr<char[]> block(new char[blockBytes]);
    thread_local google::protobuf::Arena arena(block.get(), blockBytes);
    return arena;
}

/// The thread's only message, until it decodes the next one; null where the bytes are none.
template <typename Message>
const Message *decode(grpc::ByteBuffer &bytes) {
    google::protobuf::Arena &arena = threadArena();
    arena.Reset();
    auto *message = google::protobuf::Arena::CreateMessage<Message>(&arena);
    grpc::ProtoBufferReader reader(&bytes);
    bool isMessage = reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
    return isMessage ? message : nullptr;
}

template <typename Message>
void encode(const Message &message, grpc::ByteBuffer &bytes) {
    bool ownsBuffer = false;
    // Fails where the message is over 2 GiB alone.
    (void)grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(message, &bytes, &ownsBuffer);
}

/// Puts what was settled into an answer.
template <typename Response>
void tell(Settled &&settled, Response &response) {
    auto *tally = response.mutable_tally();
    tally->set_accepted(settled.accepted);
    tally->set_suppressed(settled.suppressed);
    tally->set_duplicate(settled.duplicate);
    tally->set_rejected(settled.rejected);
    for (auto &result : settled.results) *response.add_results() = std::move(result);
}

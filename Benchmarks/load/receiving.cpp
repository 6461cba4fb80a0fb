// What a connection reads: frames, headers, and the answers in them.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "connection.h"
#include "http2.h"
#include "wire.h"

using namespace http2;

void Connection::receive() {
    static uint8_t buffer[256 << 10];
    ssize_t count = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count < 0) fail(1, "the server's connection broke: %s", std::strerror(errno));
    if (count == 0) fail(1, "the server closed the connection while streams were open");
    in_.insert(in_.end(), buffer, buffer + count);
    size_t start = 0;
    while (in_.size() - start >= 9) {
        const uint8_t *head = in_.data() + start;
        size_t length = size_t(head[0]) << 16 | size_t(head[1]) << 8 | head[2];
        if (length > 16384) fail(1, "a frame of %zu bytes, 16384 are allowed", length);
        if (in_.size() - start < 9 + length) break;
        handle({head[3], head[4], wire::loadBig32(head + 5) & 0x7fffffff, head + 9, length});
        start += 9 + length;
    }
    in_.erase(in_.begin(), in_.begin() + ptrdiff_t(start));
    pump();
}

void Connection::handle(Frame frame) {
    switch (frame.type) {
    case DATA: return handleData(frame);
    case HEADERS:
    case CONTINUATION: return handleHeaders(frame);
    case SETTINGS: return handleSettings(frame);
    case WINDOW_UPDATE: return handleWindowUpdate(frame);
    case PING:
        if (frame.length != 8) fail(1, "a PING of %zu bytes", frame.length);
        if ((frame.flags & ACK) == 0) appendFrame(PING, ACK, 0, frame.payload, 8);
        return;
    case RST_STREAM:
        fail(1, "the server reset stream %u, error %u", frame.stream,
             frame.length == 4 ? wire::loadBig32(frame.payload) : 0);
    case GOAWAY:
        fail(1, "the server sent GOAWAY, error %u: %.*s",
             frame.length >= 8 ? wire::loadBig32(frame.payload + 4) : 0,
             int(frame.length > 8 ? frame.length - 8 : 0), frame.payload + 8);
    case PUSH_PROMISE: fail(1, "the server pushes, which was forbidden");
    default: return;  // Unknown frames are to be ignored.
    }
}

Stream &Connection::streamOf(const Frame &frame) {
    auto place = open_.find(frame.stream);
    if (place == open_.end()) {
        fail(1, "a frame of type %u for stream %u, which is not open", frame.type, frame.stream);
    }
    return *place->second;
}

/// Takes padding off a DATA or HEADERS frame's payload.
static void unpad(const uint8_t *&payload, size_t &length, uint8_t flags) {
    if ((flags & PADDED) == 0) return;
    size_t padding = length > 0 ? payload[0] : 0;
    if (length < 1 + padding) fail(1, "a frame of %zu bytes with %zu of padding", length, padding);
    payload += 1;
    length -= 1 + padding;
}

void Connection::handleData(const Frame &frame) {
    Stream &stream = streamOf(frame);
    stream.consumed += int64_t(frame.length);
    consumed_ += int64_t(frame.length);
    if (consumed_ >= receiveWindow / 2) {
        appendWindowUpdate(0, uint32_t(consumed_));
        consumed_ = 0;
    }
    if (stream.consumed >= receiveWindow / 2) {
        appendWindowUpdate(stream.id, uint32_t(stream.consumed));
        stream.consumed = 0;
    }
    const uint8_t *payload = frame.payload;
    size_t length = frame.length;
    unpad(payload, length, frame.flags);
    stream.incoming.append(reinterpret_cast<const char *>(payload), length);
    readMessages(stream);
    if ((frame.flags & END_STREAM) != 0) {
        fail(1, "stream %u ended without trailers", frame.stream);
    }
}

void Connection::readMessages(Stream &stream) {
    size_t start = 0;
    const std::string &bytes = stream.incoming;
    while (bytes.size() - start >= 5) {
        auto *message = reinterpret_cast<const uint8_t *>(bytes.data()) + start;
        size_t length = wire::loadBig32(message + 1);
        if (message[0] != 0) fail(1, "a compressed answer, which was not asked for");
        if (bytes.size() - start < 5 + length) break;
        Answer answer;
        wire::Reader reader(message + 5, length);
        while (reader.nextField()) {
            if (reader.field == 1 && !isOfCalls_) answer.durableSequence = reader.value;
            if (reader.field != (isOfCalls_ ? 2 : 3)) continue;
            wire::Reader tally(reader.bytes, reader.length);
            while (tally.nextField()) {
                (tally.field == 1 ? answer.accepted : answer.others) += tally.value;
            }
        }
        if (reader.isBroken) fail(1, "an answer that is no response of its method");
        if (isOfCalls_) stream.answer = answer; else driver_.answered(stream, answer);
        start += 5 + length;
    }
    stream.incoming.erase(0, start);
}

void Connection::handleHeaders(const Frame &frame) {
    const uint8_t *payload = frame.payload;
    size_t length = frame.length;
    if (frame.type == HEADERS) {
        headers_.clear();
        headersFlags_ = frame.flags;
        unpad(payload, length, frame.flags);
        if ((frame.flags & WITH_PRIORITY) != 0) {
            if (length < 5) fail(1, "HEADERS too short for their priority");
            payload += 5;
            length -= 5;
        }
    }
    headers_.append(reinterpret_cast<const char *>(payload), length);
    if ((frame.flags & END_HEADERS) == 0) return;
    readHeaders(streamOf(frame), (headersFlags_ & END_STREAM) != 0);
}

void Connection::readHeaders(Stream &stream, bool isEnd) {
    auto *next = reinterpret_cast<const uint8_t *>(headers_.data());
    const uint8_t *end = next + headers_.size();
    std::string grpcStatus, message, httpStatus;
    while (true) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(
            inflater_, &field, &flags, next, size_t(end - next), 1);
        if (used < 0) fail(1, "headers: %s", nghttp2_strerror(int(used)));
        next += used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
            std::string name(reinterpret_cast<char *>(field.name), field.namelen);
            std::string value(reinterpret_cast<char *>(field.value), field.valuelen);
            if (name == "grpc-status") grpcStatus = value;
            if (name == "grpc-message") message = value;
            if (name == ":status") httpStatus = value;
        }
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && next == end) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    if (!httpStatus.empty() && httpStatus != "200") fail(1, "HTTP status %s", httpStatus.c_str());
    if (!isEnd) return;
    bool isWhole = stream.isCaller ? !stream.isSending : stream.isHalfClosed;
    if (grpcStatus != "0" || !isWhole) {
        fail(1, "stream %u ended early or badly: grpc-status %s, %s", stream.id,
             grpcStatus.c_str(), message.c_str());
    }
    if (stream.isCaller) return endCall(stream);
    stream.isEnded = true;
    driver_.ended(stream);
}

void Connection::endCall(Stream &stream) {
    open_.erase(stream.id);
    Answer answer = std::exchange(stream.answer, Answer());
    answer.durableSequence = stream.sequence;
    driver_.answered(stream, answer);
}

void Connection::handleSettings(const Frame &frame) {
    if ((frame.flags & ACK) != 0) return;
    for (size_t place = 0; place + 6 <= frame.length; place += 6) {
        int name = frame.payload[place] << 8 | frame.payload[place + 1];
        uint32_t value = wire::loadBig32(frame.payload + place + 2);
        if (name == MAX_CONCURRENT_STREAMS) maxStreams_ = value;
        if (name == HEADER_TABLE_SIZE && value < headerTableBytes) {
            fail(1, "a table of %u bytes for headers, %u are used", value, headerTableBytes);
        }
        if (name == MAX_FRAME_SIZE) maxFrame_ = std::min<size_t>(value, maxDataFrame);
        if (name != INITIAL_WINDOW_SIZE) continue;
        for (auto &stream : streams) {
            stream->sendWindow += int64_t(value) - initialWindow_;
            if (isOpen_) wake(*stream);
        }
        initialWindow_ = value;
    }
    appendFrame(SETTINGS, ACK, 0, nullptr, 0);
    if (!isOpen_) openStreams();
}

void Connection::handleWindowUpdate(const Frame &frame) {
    if (frame.length != 4) fail(1, "a WINDOW_UPDATE of %zu bytes", frame.length);
    int64_t count = wire::loadBig32(frame.payload) & 0x7fffffff;
    if (frame.stream == 0) {
        sendWindow_ += count;
        return;
    }
    // A call's window may grow when its answer has ended it.
    auto place = open_.find(frame.stream);
    if (place == open_.end()) return;
    place->second->sendWindow += count;
    wake(*place->second);
}

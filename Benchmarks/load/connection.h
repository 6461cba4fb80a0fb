// One HTTP/2 connection with its gRPC streams, framed by hand: flow control, SETTINGS, PING and
// trailers as the protocol has them, and nothing that a client of one method does not need.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "options.h"
#include "request.h"

class Connection;

struct Stream {
    Stream(
        Connection &connection, uint32_t id, const Request &request, int window, bool isIdle)
        : connection(connection), id(id), request(request), isIdle(isIdle),
          started(size_t(window)) {}

    Connection &connection;
    const uint32_t id;
    Request request;
    const bool isIdle;
    /// When each request under way was started, or was due: by its sequence modulo the window.
    std::vector<int64_t> started;
    /// Requests of an open loop that wait for their turn: when they were due.
    std::deque<int64_t> due;
    uint64_t sequence = 0;
    uint64_t settled = 0;
    int64_t sendWindow = 0;
    int64_t consumed = 0;
    size_t offset = 0;
    bool isSending = false;
    bool isReady = false;
    bool isHalfClosed = false;
    bool isEnded = false;
    std::string incoming;

    uint64_t underWay() const { return sequence - settled; }
};

/// What an answer told of a stream.
struct Answer {
    uint64_t durableSequence = 0;
    uint64_t accepted = 0;
    uint64_t others = 0;
};

/// Decides what the streams send, and is told what comes back.
class Driver {
public:
    virtual ~Driver() = default;
    /// Prepares the stream's next request; false where there is none now.
    virtual bool startRequest(Stream &stream) = 0;
    /// Whether the stream has sent all that it ever will.
    virtual bool isFinished(const Stream &stream) = 0;
    virtual void answered(Stream &stream, const Answer &answer) = 0;
    virtual void ended(Stream &stream) = 0;
    virtual void opened(Connection &connection) = 0;
};

class Connection {
public:
    /// Connects, or ends the program. `source` is the local address, empty for any.
    Connection(Driver &driver, const Options &options, const std::string &source);
    ~Connection();
    Connection(const Connection &) = delete;

    void addStream(const Request &request, int window, bool isIdle);
    /// Reads what has come, and answers it.
    void receive();
    /// Notes that the stream may have something to send.
    void wake(Stream &stream);
    /// Sends what streams have and windows allow.
    void pump();

    int fd = -1;
    bool wantsWrite = false;
    bool isListed = false;
    std::vector<std::unique_ptr<Stream>> streams;

private:
    struct Frame {
        uint8_t type;
        uint8_t flags;
        uint32_t stream;
        const uint8_t *payload;
        size_t length;
    };

    void handle(Frame frame);
    void handleData(const Frame &frame);
    void handleHeaders(const Frame &frame);
    void handleSettings(const Frame &frame);
    void handleWindowUpdate(const Frame &frame);
    void readHeaders(Stream &stream, bool isEnd);
    void readMessages(Stream &stream);
    void openStreams();
    bool sendChunk(Stream &stream);
    void flush();
    Stream &streamOf(const Frame &frame);
    void appendFrame(uint8_t type, uint8_t flags, uint32_t stream, const void *bytes, size_t count);
    void appendWindowUpdate(uint32_t stream, uint32_t count);

    Driver &driver_;
    std::string authority_;
    std::vector<uint8_t> out_;
    size_t outStart_ = 0;
    std::vector<uint8_t> in_;
    std::deque<Stream *> ready_;
    std::string headers_;
    uint8_t headersFlags_ = 0;
    nghttp2_hd_inflater *inflater_ = nullptr;
    int64_t sendWindow_ = 65535;
    int64_t initialWindow_ = 65535;
    int64_t consumed_ = 0;
    size_t maxFrame_ = 16384;
    uint32_t maxStreams_ = UINT32_MAX;
    bool isOpen_ = false;
};

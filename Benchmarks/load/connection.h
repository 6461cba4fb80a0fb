// One HTTP/2 connection with its gRPC streams or calls, framed by hand: flow control, SETTINGS, PING
// and trailers as the protocol has them, and nothing that a client of two methods does not need.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "options.h"
#include "request.h"

class Connection;

/// What an answer told of a stream, or of a call.
struct Answer {
    uint64_t durableSequence = 0;
    uint64_t accepted = 0;
    uint64_t others = 0;
};

/// A StreamEvents call, or a caller of RecordEvents: then each request is a call, and a stream of
/// HTTP/2, of its own.
struct Stream {
    Stream(Connection &connection, const Request &request, int window, bool isIdle, bool isCaller)
        : connection(connection), request(request), isIdle(isIdle), isCaller(isCaller),
          started(size_t(window)) {}

    Connection &connection;
    uint32_t id = 0;
    Request request;
    const bool isIdle;
    const bool isCaller;
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
    /// Of the call under way; it counts once its trailers say that it went well.
    Answer answer;

    uint64_t underWay() const { return sequence - settled; }
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
    void open(Stream &stream);
    void finish(Stream &stream);
    void endCall(Stream &stream);
    void appendRequestHeaders(uint32_t stream);
    bool sendChunk(Stream &stream);
    void flush();
    Stream &streamOf(const Frame &frame);
    void appendFrame(uint8_t type, uint8_t flags, uint32_t stream, const void *bytes, size_t count);
    void appendWindowUpdate(uint32_t stream, uint32_t count);

    Driver &driver_;
    const bool isOfCalls_;
    std::string authority_;
    std::unordered_map<uint32_t, Stream *> open_;
    uint32_t nextID_ = 1;
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

// Connecting, sending, and the frames that a connection is made of.
#include "connection.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "http2.h"
#include "wire.h"

using namespace http2;

static int connectTo(const Options &options, const std::string &source) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    int status = getaddrinfo(options.host.c_str(), options.port.c_str(), &hints, &found);
    if (status != 0) fail(69, "%s: %s", options.host.c_str(), gai_strerror(status));
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(69, "socket: %s", std::strerror(errno));
    sockaddr_in local{};
    local.sin_family = AF_INET;
    if (!source.empty() && (inet_pton(AF_INET, source.c_str(), &local.sin_addr) != 1 ||
                            bind(fd, reinterpret_cast<sockaddr *>(&local), sizeof local) != 0)) {
        fail(69, "bind to %s: %s", source.c_str(), std::strerror(errno));
    }
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        fail(69, "connect to %s:%s: %s", options.host.c_str(), options.port.c_str(),
             std::strerror(errno));
    }
    freeaddrinfo(found);
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

Connection::Connection(Driver &driver, const Options &options, const std::string &source)
    : fd(connectTo(options, source)), driver_(driver), isOfCalls_(options.callers > 0),
      authority_(options.host + ":" + options.port) {
    if (nghttp2_hd_inflate_new(&inflater_) != 0) fail(1, "no memory for the header table");
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    out_.assign(preface, preface + sizeof preface - 1);
    uint8_t settings[12] = {0, ENABLE_PUSH, 0, 0, 0, 0, 0, INITIAL_WINDOW_SIZE};
    wire::storeBig32(settings + 8, receiveWindow);
    appendFrame(SETTINGS, 0, 0, settings, sizeof settings);
    appendWindowUpdate(0, receiveWindow - 65535);
    flush();
}

Connection::~Connection() {
    nghttp2_hd_inflate_del(inflater_);
    close(fd);
}

void Connection::addStream(const Request &request, int window, bool isIdle) {
    streams.push_back(std::make_unique<Stream>(*this, request, window, isIdle, isOfCalls_));
}

/// The server has told its settings: the streams may be opened.
void Connection::openStreams() {
    isOpen_ = true;
    if (streams.size() > maxStreams_) {
        fail(64, "%zu streams on a connection, the server allows %u", streams.size(), maxStreams_);
    }
    for (auto &stream : streams) {
        if (!isOfCalls_) open(*stream);
    }
    driver_.opened(*this);
    flush();
}

/// Begins a stream of HTTP/2: for all that is ever sent, or for one call.
void Connection::open(Stream &stream) {
    stream.id = nextID_;
    nextID_ += 2;
    open_[stream.id] = &stream;
    stream.sendWindow = initialWindow_;
    stream.consumed = 0;
    appendRequestHeaders(stream.id);
}

/// A connection's first block has the fields in full, and puts them into the server's table; the
/// later ones name them by their places there, as any client does.
void Connection::appendRequestHeaders(uint32_t stream) {
    std::string block = "\x83\x86";  // :method POST, :scheme http
    auto literal = [&block](std::string_view name, std::string_view value) {
        block.append(name);
        block.push_back(char(value.size()));  // All below 127 bytes.
        block.append(value);
    };
    if (stream == 1) {
        literal("\x44", isOfCalls_ ? "/sightline.v1.TrackingService/RecordEvents"
                                   : "/sightline.v1.TrackingService/StreamEvents");
        literal("\x41", authority_);
        literal("\x5f", "application/grpc");  // content-type
        literal("\x40\x02te", "trailers");
    } else {
        block += "\xc1\xc0\xbf\xbe";  // Places 65 to 62: the newest has the lowest.
    }
    appendFrame(HEADERS, END_HEADERS, stream, block.data(), block.size());
}

/// Says that the stream sends nothing more; a caller only makes no further call.
void Connection::finish(Stream &stream) {
    stream.isHalfClosed = true;
    if (stream.isCaller) {
        stream.isEnded = true;
        driver_.ended(stream);
    } else {
        appendFrame(DATA, END_STREAM, stream.id, nullptr, 0);
    }
}

void Connection::wake(Stream &stream) {
    if (stream.isReady || stream.isHalfClosed) return;
    stream.isReady = true;
    ready_.push_back(&stream);
}

void Connection::pump() {
    if (!isOpen_) return;
    while (true) {
        while (!ready_.empty() && sendWindow_ > 0 && out_.size() - outStart_ < maxUnsent) {
            Stream &stream = *ready_.front();
            ready_.pop_front();
            stream.isReady = false;
            if (sendChunk(stream)) wake(stream);
        }
        size_t before = out_.size() - outStart_;
        flush();
        bool hasMore = !ready_.empty() && sendWindow_ > 0;
        if (!hasMore || before == 0 || wantsWrite) return;
    }
}

/// Sends one frame of the stream; true where it may have more to send.
bool Connection::sendChunk(Stream &stream) {
    if (!stream.isSending) {
        if (!driver_.startRequest(stream)) {
            if (!driver_.isFinished(stream)) return false;
            finish(stream);
            return false;
        }
        if (stream.isCaller) open(stream);
        stream.isSending = true;
        stream.offset = 0;
    }
    size_t room = size_t(std::max<int64_t>(0, std::min(stream.sendWindow, sendWindow_)));
    size_t count = std::min({stream.request.size() - stream.offset, maxFrame_, room});
    if (count == 0) return false;  // A WINDOW_UPDATE wakes it.
    stream.isSending = stream.offset + count < stream.request.size();
    uint8_t flags = stream.isCaller && !stream.isSending ? END_STREAM : 0;
    appendFrame(DATA, flags, stream.id, stream.request.data() + stream.offset, count);
    stream.sendWindow -= int64_t(count);
    sendWindow_ -= int64_t(count);
    stream.offset += count;
    return true;
}

void Connection::appendFrame(
    uint8_t type, uint8_t flags, uint32_t stream, const void *bytes, size_t count) {
    size_t before = out_.size();
    out_.resize(before + 9 + count);
    uint8_t *place = out_.data() + before;
    place[0] = uint8_t(count >> 16);
    place[1] = uint8_t(count >> 8);
    place[2] = uint8_t(count);
    place[3] = type;
    place[4] = flags;
    wire::storeBig32(place + 5, stream);
    if (count > 0) std::memcpy(place + 9, bytes, count);
}

void Connection::appendWindowUpdate(uint32_t stream, uint32_t count) {
    uint8_t bytes[4];
    wire::storeBig32(bytes, count);
    appendFrame(WINDOW_UPDATE, 0, stream, bytes, sizeof bytes);
}

void Connection::flush() {
    wantsWrite = false;
    while (outStart_ < out_.size()) {
        ssize_t count = send(fd, out_.data() + outStart_, out_.size() - outStart_,
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            wantsWrite = true;
            break;
        }
        if (count < 0) fail(1, "the server's connection broke: %s", std::strerror(errno));
        outStart_ += size_t(count);
    }
    if (outStart_ == out_.size()) {
        out_.clear();
        outStart_ = 0;
    } else if (outStart_ >= maxUnsent) {
        out_.erase(out_.begin(), out_.begin() + ptrdiff_t(outStart_));
        outStart_ = 0;
    }
}

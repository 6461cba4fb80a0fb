#include "connection.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

/// Servers bound how many connections they take from one address, so there are several.
constexpr int connectionsPerAddress = 50, addresses = 200;
constexpr size_t maxAnswerBytes = 1 << 20;

sockaddr_in resolve(const Options &options) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    int error = getaddrinfo(options.host.c_str(), options.port.c_str(), &hints, &found);
    if (error != 0) fail(69, "%s: %s", options.host.c_str(), gai_strerror(error));
    sockaddr_in address;
    std::memcpy(&address, found->ai_addr, sizeof address);
    freeaddrinfo(found);
    return address;
}

/// The value of a header field, in a head that ends at `end`; null where there is none.
const char *field(const std::string &head, size_t end, const char *name) {
    size_t length = std::strlen(name);
    for (size_t line = head.find("\r\n"); line < end; line = head.find("\r\n", line + 2)) {
        const char *text = head.c_str() + line + 2;
        if (strncasecmp(text, name, length) == 0 && text[length] == ':') return text + length + 1;
    }
    return nullptr;
}

/// The number behind `"accepted":`, which protobuf's JSON has in quotes; 0 where there is none.
uint64_t acceptedIn(const std::string &body) {
    size_t place = body.find("\"accepted\"");
    if (place == std::string::npos) return 0;
    place = body.find_first_of("0123456789", place);
    return place == std::string::npos ? 0 : std::strtoull(body.c_str() + place, nullptr, 10);
}

}  // namespace

int64_t nowNanos() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

Connection::Connection(const Options &options, SSL_CTX *context, int number)
    : options_(options), context_(context), request_(options, number),
      source_(uint32_t(number / connectionsPerAddress)) {}

Connection::~Connection() { close(); }

void Connection::open(int epoll) {
    static const sockaddr_in server = resolve(options_);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd_ < 0) fail(1, "socket: %s", std::strerror(errno));
    int yes = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (ntohl(server.sin_addr.s_addr) == INADDR_LOOPBACK) {
        // Each of many short connections from another address: ports are free again later.
        static uint32_t opened = 0;
        uint32_t place = options_.isAnew ? opened++ : source_;
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_addr.s_addr = htonl(0x7f000101 + place % addresses);
        setsockopt(fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
        if (bind(fd_, reinterpret_cast<sockaddr *>(&own), sizeof own) != 0) {
            fail(1, "bind: %s", std::strerror(errno));
        }
    }
    if (connect(fd_, reinterpret_cast<const sockaddr *>(&server), sizeof server) != 0 &&
        errno != EINPROGRESS) {
        fail(69, "connect: %s", std::strerror(errno));
    }
    if (context_ != nullptr) {
        ssl_ = SSL_new(context_);
        SSL_set_fd(ssl_, fd_);
        SSL_set_connect_state(ssl_);
    }
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | uint32_t(EPOLLET);
    event.data.ptr = this;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd_, &event) != 0) {
        fail(1, "epoll_ctl: %s", std::strerror(errno));
    }
}

void Connection::close() {
    if (ssl_ != nullptr) SSL_free(ssl_);
    if (fd_ >= 0) ::close(fd_);
    ssl_ = nullptr;
    fd_ = -1;
}

void Connection::begin(IDs &ids, int epoll) {
    began_ = nowNanos();
    request_.prepare(ids);
    received_.clear();
    sent_ = 0;
    step_ = Step::write;
    if (fd_ < 0) open(epoll);
}

bool Connection::proceed(Answer &answer) {
    if (step_ == Step::idle || (step_ == Step::write && !send())) return false;
    while (!isWhole(answer)) {
        if (!receive()) return false;
    }
    answer.nanos = nowNanos() - began_;
    step_ = Step::idle;
    if (options_.isAnew) close();
    return true;
}

bool Connection::send() {
    while (sent_ < request_.bytes().size()) {
        long count = transfer(true);
        if (count == 0) return false;
        if (count < 0) fail(1, "the server closed a connection before it had a request");
        sent_ += size_t(count);
    }
    step_ = Step::read;
    return true;
}

bool Connection::receive() {
    long count = transfer(false);
    if (count < 0) fail(1, "the server closed a connection before it answered: %s",
                        received_.c_str());
    return count > 0;
}

long Connection::transfer(bool isWrite) {
    char buffer[16384];
    const char *data = request_.bytes().data() + sent_;
    size_t left = request_.bytes().size() - sent_;
    long count;
    if (ssl_ != nullptr) {
        count = isWrite ? SSL_write(ssl_, data, int(left)) : SSL_read(ssl_, buffer, sizeof buffer);
        if (count <= 0) {
            int error = SSL_get_error(ssl_, int(count));
            return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
        }
    } else {
        count = isWrite ? ::send(fd_, data, left, MSG_NOSIGNAL)
                        : ::recv(fd_, buffer, sizeof buffer, 0);
        // Not connected yet is ENOTCONN or EAGAIN.
        if (count < 0) return errno == EAGAIN || errno == ENOTCONN ? 0 : -1;
        if (count == 0) return -1;
    }
    if (!isWrite) received_.append(buffer, size_t(count));
    return count;
}

bool Connection::isWhole(Answer &answer) {
    size_t end = received_.find("\r\n\r\n");
    if (received_.size() > maxAnswerBytes) fail(1, "an answer of more than 1 MiB");
    if (end == std::string::npos) return false;
    const char *length = field(received_, end, "content-length");
    if (length == nullptr) fail(1, "an answer without its length: %s", received_.c_str());
    size_t size = std::strtoull(length, nullptr, 10);
    if (received_.size() < end + 4 + size) return false;
    answer.status = std::atoi(received_.c_str() + std::strlen("HTTP/1.1 "));
    answer.body = received_.substr(end + 4, size);
    // A postback's answer says only whether it was taken.
    answer.accepted = answer.status != 200 ? 0
        : options_.kind == "postbacks" ? 1 : acceptedIn(answer.body);
    return true;
}

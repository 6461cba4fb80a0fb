// A connection: one request after the other, each of which waits for its answer.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <string>

#include "request.h"

/// What a request was answered.
struct Answer {
    int status = 0;
    uint64_t accepted = 0;
    int64_t nanos = 0;
    std::string body;
};

class Connection {
public:
    /// `context` is null without TLS.
    Connection(const Options &options, SSL_CTX *context, int number);
    ~Connection();
    Connection(const Connection &) = delete;

    /// Begins a request: writes new ids, and opens a connection where there is none.
    void begin(IDs &ids, int epoll);

    /// Goes on with what is under way; true where that has got its whole answer.
    bool proceed(Answer &answer);

private:
    enum class Step { idle, write, read };

    void open(int epoll);
    void close();
    /// False where the socket has to be waited for.
    bool send();
    bool receive();
    /// Bytes that were written or read; 0 where the socket has to be waited for; -1 at the end.
    long transfer(bool isWrite);
    bool isWhole(Answer &answer);

    const Options &options_;
    SSL_CTX *context_;
    Request request_;
    int fd_ = -1;
    SSL *ssl_ = nullptr;
    Step step_ = Step::idle;
    size_t sent_ = 0;
    std::string received_;
    int64_t began_ = 0;
    uint32_t source_;
};

int64_t nowNanos();

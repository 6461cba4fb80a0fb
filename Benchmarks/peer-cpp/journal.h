// A file that is appended to, with group commit: what arrives during one fdatasync is the next
// group.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "window.h"

/// Waits for its requests to be durable: a stream, or a call.
class Settler {
public:
    virtual ~Settler() = default;
    virtual void settle(Settled &&settled) = 0;
};

class Journal {
public:
    /// Opens the file, or ends the program.
    explicit Journal(const std::string &path);

    /// Takes a request into the next group: its length, its hits, and its own bytes. One without
    /// hits only keeps its place in the stream's order.
    void append(Settler *settler, const grpc::ByteBuffer &bytes, Admission &&admission);

private:
    /// What one commit makes durable.
    struct Group {
        std::string bytes;
        std::unordered_map<Settler *, Settled> settled;
    };

    void run();
    void commit(const std::string &bytes);

    const std::string path_;
    int fd_;
    std::mutex mutex_;
    std::condition_variable work_;
    Group next_;
    std::thread thread_;
};

// A request that is encoded once and sent again and again: its ids are patched in place, so that
// every hit is new.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Gives ids that no other run has: 24 random bits, and a counter.
class IDs {
public:
    IDs();
    uint64_t next() { return next_++; }

private:
    uint64_t next_;
};

class Request {
public:
    /// A request of `batch` events of `eventBytes` each: of a call, or else of a stream.
    Request(const std::string &mix, int batch, int eventBytes, bool isCall = false);

    /// Numbers a stream's request, and gives its events ids of their own.
    void prepare(uint64_t sequence, IDs &ids);

    /// The gRPC message, its five bytes of prefix included.
    const uint8_t *data() const {
        return reinterpret_cast<const uint8_t *>(bytes_.data()) + start_;
    }
    size_t size() const { return bytes_.size() - start_; }

private:
    // The sequence and the prefix stand right before the events, whatever their length.
    static constexpr size_t headroom = 16;

    bool isCall_;
    std::string bytes_;
    size_t start_ = headroom;
    /// Where the 16 digits of each event's id stand: two places for each.
    std::vector<uint32_t> places_;
};

// The little of protobuf and HTTP/2 that the generator writes and reads by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace wire {

inline void appendVarint(std::string &bytes, uint64_t value) {
    while (value >= 0x80) {
        bytes.push_back(char(value | 0x80));
        value >>= 7;
    }
    bytes.push_back(char(value));
}

inline void appendNumber(std::string &bytes, int field, uint64_t value) {
    appendVarint(bytes, uint64_t(field) << 3);
    appendVarint(bytes, value);
}

inline void appendBytes(std::string &bytes, int field, std::string_view value) {
    appendVarint(bytes, uint64_t(field) << 3 | 2);
    appendVarint(bytes, value.size());
    bytes.append(value);
}

inline void storeBig32(uint8_t *place, uint32_t value) {
    value = __builtin_bswap32(value);
    std::memcpy(place, &value, 4);
}

inline uint32_t loadBig32(const uint8_t *place) {
    uint32_t value;
    std::memcpy(&value, place, 4);
    return __builtin_bswap32(value);
}

/// Steps through a message's fields.
class Reader {
public:
    Reader(const uint8_t *bytes, size_t count) : next_(bytes), end_(bytes + count) {}

    /// Moves to the next field; false at the end, or where the bytes make no sense.
    bool nextField() {
        if (next_ == end_) return false;
        uint64_t tag = varint();
        field = int(tag >> 3);
        switch (tag & 7) {
        case 0: value = varint(); break;
        case 1: skip(8); break;
        case 2: {
            uint64_t count = varint();
            bytes = next_;
            length = size_t(count);
            skip(count);
            break;
        }
        case 5: skip(4); break;
        default: isBroken = true;
        }
        return !isBroken;
    }

    int field = 0;
    uint64_t value = 0;
    const uint8_t *bytes = nullptr;
    size_t length = 0;
    bool isBroken = false;

private:
    uint64_t varint() {
        uint64_t result = 0;
        for (int shift = 0; shift < 64 && next_ != end_; shift += 7) {
            uint8_t byte = *next_++;
            result |= uint64_t(byte & 0x7f) << shift;
            if (byte < 0x80) return result;
        }
        isBroken = true;
        return 0;
    }

    void skip(uint64_t count) {
        if (count > uint64_t(end_ - next_)) {
            isBroken = true;
        } else {
            next_ += count;
        }
    }

    const uint8_t *next_;
    const uint8_t *end_;
};

}  // namespace wire

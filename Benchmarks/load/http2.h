// The numbers of RFC 9113 that are used, and the generator's own bounds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace http2 {

enum FrameType : uint8_t {
    DATA = 0, HEADERS = 1, PRIORITY = 2, RST_STREAM = 3, SETTINGS = 4, PUSH_PROMISE = 5,
    PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8, CONTINUATION = 9,
};

enum Flag : uint8_t {
    ACK = 0x1, END_STREAM = 0x1, END_HEADERS = 0x4, PADDED = 0x8, WITH_PRIORITY = 0x20,
};

enum Setting : uint8_t {
    HEADER_TABLE_SIZE = 1, ENABLE_PUSH = 2, MAX_CONCURRENT_STREAMS = 3, INITIAL_WINDOW_SIZE = 4,
    MAX_FRAME_SIZE = 5,
};

/// The table of header fields that a server has unless it says otherwise.
constexpr uint32_t headerTableBytes = 4096;
/// What the server may have under way to us, on a stream and on a connection.
constexpr uint32_t receiveWindow = 1 << 20;
/// Bytes that wait for the socket before streams wait for them.
constexpr size_t maxUnsent = 256 << 10;
/// Frames are not larger than this, as those of most clients, even where the server allows it.
constexpr size_t maxDataFrame = 16384;

}  // namespace http2

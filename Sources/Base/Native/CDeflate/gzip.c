#include "gzip.h"

#include <limits.h>
#include <zlib.h>

// zlib's window of 32 KiB, and 16 more for the header of gzip.
static const int window_bits = 15 + 16;

size_t sightline_gzip_bound(size_t count) {
    // The header and the end of gzip are not in compressBound.
    return compressBound(count) + 18;
}

size_t sightline_gzip(const uint8_t *input, size_t count, uint8_t *output, size_t capacity) {
    if (count > UINT_MAX || capacity > UINT_MAX) return 0;
    z_stream stream = {0};
    stream.next_in = (uint8_t *)input;
    stream.avail_in = (unsigned)count;
    stream.next_out = output;
    stream.avail_out = (unsigned)capacity;
    if (deflateInit2(&stream, 1, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    int status = deflate(&stream, Z_FINISH);
    size_t written = stream.total_out;
    deflateEnd(&stream);
    return status == Z_STREAM_END ? written : 0;
}

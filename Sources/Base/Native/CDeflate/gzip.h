// gzip (RFC 1952) of a buffer at once, by zlib.
#ifndef SIGHTLINE_GZIP_H
#define SIGHTLINE_GZIP_H

#include <stddef.h>
#include <stdint.h>

/// The most bytes that `count` bytes take compressed.
size_t sightline_gzip_bound(size_t count);

/// Compresses `count` bytes into `output`, which has room for `capacity`; the bytes that were
/// written, or 0 if it has no room or zlib no memory.
size_t sightline_gzip(const uint8_t *input, size_t count, uint8_t *output, size_t capacity);

#endif

// CRC-32C (Castagnoli; RFC 3720 appendix B.4), by the processor's instruction if it has one.
// No library of the toolchain provides it: zlib's crc32 uses another polynomial.
#ifndef SIGHTLINE_CRC32C_H
#define SIGHTLINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// Continues the CRC-32C `crc` (0 to start) over `count` bytes.
uint32_t sightline_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same by table, for processors without the instruction, and for tests.
uint32_t sightline_crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif

// CRC-32C (Castagnoli; RFC 3720 appendix B.4), by the processor's own instruction where it has one.
// Written here because no library of this toolchain offers it: zlib's crc32 is another polynomial.
#ifndef SIGHTLINE_CRC32C_H
#define SIGHTLINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/// The CRC-32C of `count` bytes that follow bytes whose CRC-32C is `crc` (0 for none).
uint32_t sightline_crc32c(uint32_t crc, const void *bytes, size_t count);

/// The same, computed by table: for processors without the instruction, and to check the other.
uint32_t sightline_crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif

#include "crc32c.h"

#include <string.h>

static const uint32_t polynomial = 0x82f63b78; // reflected 0x1edc6f41

uint32_t sightline_crc32c_table(uint32_t crc, const void *bytes, size_t count) {
    // Sixteen entries, one per nibble: small enough to compute per call without shared state.
    uint32_t table[16];
    for (uint32_t nibble = 0; nibble < 16; nibble++) {
        uint32_t value = nibble;
        for (int bit = 0; bit < 4; bit++) value = value & 1 ? value >> 1 ^ polynomial : value >> 1;
        table[nibble] = value;
    }
    const uint8_t *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2")))
static uint32_t crc32c_instruction(uint32_t crc, const uint8_t *byte, size_t count) {
    uint64_t state = ~crc;
    for (; count >= 8; byte += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        state = _mm_crc32_u64(state, word);
    }
    for (; count > 0; byte++, count--) state = _mm_crc32_u8((uint32_t)state, *byte);
    return ~(uint32_t)state;
}

uint32_t sightline_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (__builtin_cpu_supports("sse4.2")) return crc32c_instruction(crc, bytes, count);
    return sightline_crc32c_table(crc, bytes, count);
}

#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_CRC32)
static int has_instruction(void) { return 1; }
#else
#include <asm/hwcap.h>
#include <sys/auxv.h>

// Optional in ARMv8.0, for which Swift compiles: the kernel tells what the processor has.
static int has_instruction(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

#include <arm_acle.h>

__attribute__((target("+crc")))
static uint32_t crc32c_instruction(uint32_t crc, const uint8_t *byte, size_t count) {
    crc = ~crc;
    for (; count >= 8; byte += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        crc = __crc32cd(crc, word);
    }
    for (; count > 0; byte++, count--) crc = __crc32cb(crc, *byte);
    return ~crc;
}

uint32_t sightline_crc32c(uint32_t crc, const void *bytes, size_t count) {
    if (has_instruction()) return crc32c_instruction(crc, bytes, count);
    return sightline_crc32c_table(crc, bytes, count);
}

#else

uint32_t sightline_crc32c(uint32_t crc, const void *bytes, size_t count) {
    return sightline_crc32c_table(crc, bytes, count);
}

#endif

// Holds the CRC-32C of a processor that the tests do not run on to RFC 3720's vectors, and the
// instruction to the table. Scripts/check-arm compiles it, and runs it with and without the instruction.
#include "crc32c.h"

#include <stdio.h>

#if defined(WITHOUT_INSTRUCTION)
// The linker's --wrap: a kernel that tells of no instruction.
unsigned long __wrap_getauxval(unsigned long type) {
    (void)type;
    return 0;
}
#endif

static int failures;

static void expect(const char *what, uint32_t seen, uint32_t wanted) {
    if (seen == wanted) return;
    printf("%s: 0x%08x, not 0x%08x\n", what, seen, wanted);
    failures++;
}

static void vectors(void) {
    uint8_t zeros[32], ones[32], rising[32], falling[32];
    for (int i = 0; i < 32; i++) {
        zeros[i] = 0;
        ones[i] = 0xff;
        rising[i] = (uint8_t)i;
        falling[i] = (uint8_t)(31 - i);
    }
    expect("zeros", sightline_crc32c(0, zeros, 32), 0x8a9136aa);
    expect("ones", sightline_crc32c(0, ones, 32), 0x62a8ab43);
    expect("rising", sightline_crc32c(0, rising, 32), 0x46dd794e);
    expect("falling", sightline_crc32c(0, falling, 32), 0x113fdb5c);
}

// Each start within a word and each length around it, continued at each place.
static void agreement(void) {
    uint8_t bytes[64];
    uint32_t state = 3720;
    for (int i = 0; i < 64; i++) bytes[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    for (size_t start = 0; start < 8; start++) {
        for (size_t count = 0; count <= 40; count++) {
            uint32_t wanted = sightline_crc32c_table(0, bytes + start, count);
            for (size_t split = 0; split <= count; split++) {
                uint32_t head = sightline_crc32c(0, bytes + start, split);
                expect("continued", sightline_crc32c(head, bytes + start + split, count - split),
                       wanted);
            }
        }
    }
}

int main(void) {
    vectors();
    agreement();
    printf("%d failures\n", failures);
    return failures != 0;
}

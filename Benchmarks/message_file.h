// The file of messages that the bare programs send, as the benches' scripts write it: for each message
// the number of its headers, its address (a subject, or a key), each header's name and value, and what it
// carries. Every number is 4 bytes, little endian; every text stands behind its length, and ends with a
// zero byte that the length does not count.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, long *length) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) { perror(path); exit(1); }
    *length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*length);
    if (!bytes || fread(bytes, 1, (size_t)*length, file) != (size_t)*length) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

static uint32_t number(char **at) {
    uint32_t value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

static char *text(char **at, uint32_t *length) {
    *length = number(at);
    char *start = *at;
    *at += *length + 1;
    return start;
}

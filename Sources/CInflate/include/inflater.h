// Decompression of whole messages, piece by piece. zlib's own header stays out of sight: the gRPC
// library's modules hold it too, and Swift could not tell whose it is.
#ifndef SIGHTLINE_INFLATER_H
#define SIGHTLINE_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sightline_inflater sightline_inflater;

typedef enum {
    SIGHTLINE_INFLATE_ENDED,
    /// All room is used, and there may be more to come.
    SIGHTLINE_INFLATE_NEEDS_ROOM,
    /// The input is damaged or breaks off.
    SIGHTLINE_INFLATE_FAILED,
} sightline_inflate_status;

/// An inflater of gzip or of zlib's own format; NULL where there is no memory.
sightline_inflater *sightline_inflater_make(bool is_gzip);

void sightline_inflater_free(sightline_inflater *inflater);

/// Makes it ready for the next message; false where it is damaged.
bool sightline_inflater_reset(sightline_inflater *inflater);

/// Inflates a part of the whole input into the room that is given. Takes up to 4 GiB at once.
sightline_inflate_status sightline_inflater_step(
    sightline_inflater *inflater, const uint8_t *input, size_t input_count, uint8_t *room,
    size_t room_count, size_t *taken, size_t *written);

#endif

// Inflates messages in steps. Does not expose zlib's header, because the gRPC library's modules
// contain it too, and Swift would find its declarations ambiguous.
#ifndef SIGHTLINE_INFLATER_H
#define SIGHTLINE_INFLATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sightline_inflater sightline_inflater;

typedef enum {
    SIGHTLINE_INFLATE_ENDED,
    /// The output buffer is full; call again with more room.
    SIGHTLINE_INFLATE_NEEDS_ROOM,
    /// The input is damaged or truncated.
    SIGHTLINE_INFLATE_FAILED,
} sightline_inflate_status;

/// Creates an inflater for gzip or zlib format; NULL if there is no memory.
sightline_inflater *sightline_inflater_make(bool is_gzip);

void sightline_inflater_free(sightline_inflater *inflater);

/// Prepares for the next message; false if the inflater is in an invalid state.
bool sightline_inflater_reset(sightline_inflater *inflater);

/// Inflates part of a complete message into `room`; reads at most 4 GiB in a call.
sightline_inflate_status sightline_inflater_step(
    sightline_inflater *inflater, const uint8_t *input, size_t input_count, uint8_t *room,
    size_t room_count, size_t *taken, size_t *written);

#endif

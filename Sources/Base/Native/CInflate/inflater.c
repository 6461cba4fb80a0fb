#include "inflater.h"

#include <stdlib.h>
#include <zlib.h>

struct sightline_inflater {
    z_stream stream;
};

sightline_inflater *sightline_inflater_make(bool is_gzip) {
    sightline_inflater *inflater = calloc(1, sizeof(*inflater));
    if (inflater == NULL) return NULL;
    // The largest window size; adding 16 selects gzip.
    if (inflateInit2(&inflater->stream, is_gzip ? 15 + 16 : 15) == Z_OK) return inflater;
    free(inflater);
    return NULL;
}

void sightline_inflater_free(sightline_inflater *inflater) {
    inflateEnd(&inflater->stream);
    free(inflater);
}

bool sightline_inflater_reset(sightline_inflater *inflater) {
    return inflateReset(&inflater->stream) == Z_OK;
}

sightline_inflate_status sightline_inflater_step(
    sightline_inflater *inflater, const uint8_t *input, size_t input_count, uint8_t *room,
    size_t room_count, size_t *taken, size_t *written) {
    z_stream *stream = &inflater->stream;
    stream->next_in = (Bytef *)input;
    stream->avail_in = (uInt)input_count;
    stream->next_out = room;
    stream->avail_out = (uInt)room_count;
    int status = inflate(stream, Z_SYNC_FLUSH);
    *taken = input_count - stream->avail_in;
    *written = room_count - stream->avail_out;
    if (status == Z_STREAM_END) return SIGHTLINE_INFLATE_ENDED;
    // All input is used and room is left: the message is truncated, and going on would loop
    // for ever.
    if ((status == Z_OK || status == Z_BUF_ERROR) && stream->avail_out == 0)
        return SIGHTLINE_INFLATE_NEEDS_ROOM;
    return SIGHTLINE_INFLATE_FAILED;
}

// Zstandard: compression of the jsonl sink's files. Only what its stable interface declares.
#ifndef SIGHTLINE_CZSTD_H
#define SIGHTLINE_CZSTD_H

#include <zstd.h>

#endif

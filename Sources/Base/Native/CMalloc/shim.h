// mallopt, which Swift's Glibc module omits.
#ifndef SIGHTLINE_MALLOC_H
#define SIGHTLINE_MALLOC_H

#include <malloc.h>

#endif

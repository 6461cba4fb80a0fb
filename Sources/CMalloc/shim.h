// mallopt, which Swift's module of the C library leaves out.
#ifndef SIGHTLINE_MALLOC_H
#define SIGHTLINE_MALLOC_H

#include <malloc.h>

#endif

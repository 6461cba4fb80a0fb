// The C client of NATS. Only the package trait NATS makes anything import it.
#ifndef SIGHTLINE_CNATS_H
#define SIGHTLINE_CNATS_H

#include <nats/nats.h>

#endif

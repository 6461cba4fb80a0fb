// The C client of NATS. NATSSink alone imports it.
#ifndef SIGHTLINE_CNATS_H
#define SIGHTLINE_CNATS_H

#include <nats/nats.h>

#endif

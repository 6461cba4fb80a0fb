// The C client of PostgreSQL. PostgreSQLSink alone imports it.
#ifndef SIGHTLINE_CLIBPQ_H
#define SIGHTLINE_CLIBPQ_H

#include <libpq-fe.h>

#endif

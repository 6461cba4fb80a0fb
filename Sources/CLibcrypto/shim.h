// OpenSSL's SHA-256 on a context of the caller's own. Its newer interface allocates for every hash;
// this one is deprecated in favour of it, and stays in OpenSSL 3.
#ifndef SIGHTLINE_LIBCRYPTO_H
#define SIGHTLINE_LIBCRYPTO_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#endif

// OpenSSL's SHA-256 with a caller-provided context. It is deprecated but still in OpenSSL 3; its
// replacement allocates for every hash. So does swift-crypto's SHA256, with which admission takes
// 17 % more instructions and an allocation for each event (bench-micro).
#ifndef SIGHTLINE_LIBCRYPTO_H
#define SIGHTLINE_LIBCRYPTO_H

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/sha.h>

#endif

internal import CLibcrypto

/// Process-wide settings of OpenSSL.
package enum Libcrypto {
    /// Keeps OpenSSL usable until the process has exited. By default OpenSSL frees its memory on
    /// exit, and a thread that still closes a sink's connection crashes: see
    /// OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT. Only the first initialization in a process
    /// counts, so call this before any use of a sink's library.
    package static func keepUntilExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}

internal import CLibcrypto

/// OpenSSL, as the whole process uses it.
package enum Libcrypto {
    /// Keeps OpenSSL usable until the process is gone. By default it frees its memory on exit, and
    /// a thread that still closes a connection of a sink crashes: see OPENSSL_init_crypto(3),
    /// OPENSSL_INIT_NO_ATEXIT. Only the first use of OpenSSL in a process decides, so call this
    /// before a sink's library is used.
    package static func keepUntilExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}

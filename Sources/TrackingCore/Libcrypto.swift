internal import CLibcrypto

/// OpenSSL, as the whole process uses it.
package enum Libcrypto {
    /// Has OpenSSL leave what it has as it is when the process exits. By default it frees all of it
    /// then, under the hands of threads that still close a connection of a sink
    /// (OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT). Only the first use of OpenSSL decides, so
    /// call it before any library makes one.
    package static func keepUntilExit() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}

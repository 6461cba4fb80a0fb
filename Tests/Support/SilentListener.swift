internal import Glibc

/// Takes connections, and never says a word.
package final class SilentListener {
    private let descriptor: Int32
    /// Chosen by the system.
    package let port: UInt16

    /// Listens on the loopback interface.
    package init() throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw NotListening(errno: errno) }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(self.descriptor) }

    private struct NotListening: Error {
        let errno: CInt
    }
}

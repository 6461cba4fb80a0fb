internal import Glibc

/// The socket on which a service reports its state to a service manager: sd_notify's protocol, a
/// datagram of lines NAME=VALUE.
struct NotifySocket: Sendable {
    private let path: String

    /// The manager's socket; nil if there is no manager.
    init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
    }

    /// Sends lines. Errors are ignored: without a manager, nobody needs the lines.
    func send(_ lines: String...) {
        let socket = Glibc.socket(
            AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard socket >= 0 else { return }
        defer { close(socket) }
        let text = lines.joined(separator: "\n")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: self.path.utf8)
            // An abstract name begins with a zero.
            if self.path.hasPrefix("@") { bytes[0] = 0 }
        }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        // The name of a file ends with a zero, an abstract one with its length.
        let end = self.path.hasPrefix("@") ? 0 : 1
        let count = socklen_t(offset + self.path.utf8.count + end)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = Glibc.sendto(
                    socket, text, text.utf8.count, CInt(MSG_NOSIGNAL), $0, count)
            }
        }
    }
}

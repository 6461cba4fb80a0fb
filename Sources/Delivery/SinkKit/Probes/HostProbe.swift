// The first steps of a probe over the network: is the host's name known, and does anybody listen?
internal import Dispatch
internal import Glibc

/// A port that a probe connects to, without a word over the connection.
package struct HostProbe: Sendable {
    private let host: String
    private let port: Int
    private let key: String
    private let timeout: Duration

    /// A probe of a host's port.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - key: the configuration key that names the host; fixes mention it.
    ///   - timeout: how long a connection to one address may take.
    package init(host: String, port: Int, key: String, timeout: Duration = .seconds(5)) {
        self.host = host
        self.port = port
        self.key = key
        self.timeout = timeout
    }

    /// The steps `name` and `connection`; the latter only if the name is known.
    package func steps() async -> [ProbeStep] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.blockingSteps()) }
        }
    }

    /// The step `connection`, to addresses that are known.
    package func connection(to addresses: [NetworkAddress]) async -> ProbeStep {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: self.connect(to: addresses))
            }
        }
    }

    private func blockingSteps() -> [ProbeStep] {
        let addresses: [NetworkAddress]
        do {
            addresses = try HostLookup.addresses(of: self.host)
        } catch {
            return [
                .failed(
                    "name", "the host \(self.host) is not found: \(error)",
                    fix: "check the host in \(self.key), and that the name server answers here")
            ]
        }
        return [.named(self.host, addresses), self.connect(to: addresses)]
    }

    /// Connects to the first address that accepts.
    private func connect(to addresses: [NetworkAddress]) -> ProbeStep {
        var failures: [String] = []
        for address in addresses {
            let code = self.connect(to: address)
            if code == 0 {
                return .worked("connection", "\(self.shown(address)) accepts connections")
            }
            failures.append("\(self.shown(address)): " + String(cString: strerror(code)))
        }
        return .failed(
            "connection", failures.joined(separator: "; "),
            fix: "check that the server runs, the port in \(self.key), and that no firewall or "
                + "NetworkPolicy is between")
    }

    private func shown(_ address: NetworkAddress) -> String {
        address.isIPv4 ? "\(address.text):\(self.port)" : "[\(address.text)]:\(self.port)"
    }

    /// 0, or the error's number.
    private func connect(to address: NetworkAddress) -> CInt {
        let family = address.isIPv4 ? AF_INET : AF_INET6
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(family, type, 0)
        guard socket >= 0 else { return errno }
        defer { close(socket) }
        let status = address.withSocketAddress(port: self.port) { address, count in
            Glibc.connect(socket, address, count)
        }
        if status == 0 { return 0 }
        guard errno == EINPROGRESS else { return errno }
        var poll = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        let milliseconds = self.timeout.components.seconds * 1000
        guard Glibc.poll(&poll, 1, CInt(clamping: milliseconds)) > 0 else { return ETIMEDOUT }
        var code: CInt = 0
        var count = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &count) == 0 else { return errno }
        return code
    }
}

extension ProbeStep {
    /// The step `name`, of a host with addresses.
    package static func named(_ host: String, _ addresses: [NetworkAddress]) -> ProbeStep {
        let texts = addresses.map(\.text)
        if texts == [host] { return .worked("name", "\(host) is an address") }
        return .worked("name", "\(host) is \(texts.joined(separator: " and "))")
    }
}

extension NetworkAddress {
    /// Calls `body` with the address and a port, as the system's calls take them.
    fileprivate func withSocketAddress(
        port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        let port = in_port_t(truncatingIfNeeded: port).bigEndian
        if self.isIPv4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: self.bytes) }
            return Self.call(&address, body)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: self.bytes) }
        return Self.call(&address, body)
    }

    private static func call<Address>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}

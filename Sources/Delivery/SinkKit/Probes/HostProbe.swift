// The first steps of a probe over the network: is the host's name known, does anybody listen, and
// is the certificate accepted?
internal import Dispatch
internal import Glibc

/// A port that a sink connects to. A probe looks its host up and connects, without a word over the
/// connection; of TLS it is told by the sink's own delivery, whose library decides what it accepts.
package struct HostProbe: Sendable {
    private let host: String
    private let port: Int
    private let key: String
    private let roots: String?
    private let timeout: Duration
    private let lookup: Lookup

    /// Finds the addresses that may be connected to; its error is a sentence. It may block.
    package typealias Lookup = @Sendable () throws -> [NetworkAddress]

    /// A probe of a host's port.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - key: the configuration key that names the host; fixes mention it.
    ///   - roots: the key that names the authorities of its certificate; nil if the sink does not
    ///     ask for a certificate there.
    ///   - timeout: how long a connection to one address may take.
    ///   - lookup: nil: asks the system.
    package init(
        host: String, port: Int, key: String, roots: String? = nil,
        timeout: Duration = .seconds(5), lookup: Lookup? = nil
    ) {
        self.host = host
        self.port = port
        self.key = key
        self.roots = roots
        self.timeout = timeout
        self.lookup = lookup ?? { try Self.system(host) }
    }

    private struct Unknown: Error, CustomStringConvertible {
        let description: String
    }

    private static func system(_ host: String) throws -> [NetworkAddress] {
        do {
            return try HostLookup.addresses(of: host)
        } catch {
            throw Unknown(description: "the host \(host) is not found: \(error)")
        }
    }

    /// The steps of a probe whose delivery reaches one of these hosts: those of the first that
    /// accepts connections, then the delivery's. If none accepts, those of all, and no delivery.
    package static func steps(
        ofOne hosts: [HostProbe], then deliver: () async -> [ProbeStep]
    ) async -> [ProbeStep] {
        var failures: [ProbeStep] = []
        for host in hosts {
            let steps = await host.steps()
            if steps.last?.outcome != .failed { return steps + host.withTLS(await deliver()) }
            failures += steps
        }
        return hosts.isEmpty ? await deliver() : failures
    }

    /// The steps `name` and `connection`; the latter only if the name is known.
    package func steps() async -> [ProbeStep] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.blockingSteps()) }
        }
    }

    private func blockingSteps() -> [ProbeStep] {
        let addresses: [NetworkAddress]
        do {
            addresses = try self.lookup()
        } catch {
            return [
                .failed(
                    "name", "\(error)",
                    fix: "check the host in \(self.key), and that the name server answers here")
            ]
        }
        let texts = addresses.map(\.text)
        let name =
            texts == [self.host]
            ? "\(self.host) is an address" : "\(self.host) is \(texts.joined(separator: " and "))"
        return [.worked("name", name), self.connect(to: addresses)]
    }

    /// How libraries of TLS say that it has failed.
    private static let wordsOfTLS = [
        "certificate", "CERTIFICATE", "handshake", "HANDSHAKE", "SSL error", "SSL Error", "TLS",
        "Secure Connection",
    ]

    /// The steps of a delivery with the step `TLS`: before them if it has to have worked, in place
    /// of a failure that it is the cause of.
    private func withTLS(_ steps: [ProbeStep]) -> [ProbeStep] {
        guard let roots, let first = steps.first else { return steps }
        guard first.outcome == .failed else {
            return [.worked("TLS", "the certificate of \(self.host) is accepted")] + steps
        }
        guard Self.wordsOfTLS.contains(where: { first.text.contains($0) }) else { return steps }
        return [
            .failed(
                "TLS", first.text,
                fix: "the server has to take TLS, with a certificate that is valid for "
                    + "\(self.host) and of an authority in \(roots), or in the system's CAs if "
                    + "that is not set")
        ]
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

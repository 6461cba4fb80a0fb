// Who may reach a server without TLS or credentials: no other machine, unless somebody says so.
internal import AdminServer
internal import ConfigurationKeys
internal import Credentials
internal import HTTP2Edge
internal import HTTPDoor
internal import NIOCore

extension ServerConfiguration {
    /// Why the server must not take events on a host's address; nil where it may. It follows the
    /// words `listen is "0.0.0.0:50051", but`.
    func exposure(of host: String) -> String? {
        guard !self.allowInsecure, !Self.isLoopback(host) else { return nil }
        let fault: String
        switch self.tls.mode {
        case .off:
            fault =
                "without TLS anybody on the network could read, change and send events; set "
                + "tls.mode and credentials (auth.mode, or tls.mode: mtls)"
        case .tls where self.auth.modes.isEmpty:
            fault =
                "without credentials anybody on the network could send events; set auth.mode, "
                + "or tls.mode to mtls"
        case .tls, .mtls:
            return nil
        }
        return "\(fault), listen on 127.0.0.1 or [::1], or allow it by --allow-insecure "
            + "(allow_insecure: true)"
    }

    /// Whether the live page may send test events to the HTTP port: only in development, and only
    /// while no other machine reaches either port. A Content-Security-Policy cannot name an address
    /// of IPv6, so the HTTP port has to have one of IPv4.
    package var pageSendsTestEvents: Bool {
        guard self.isDevelopment, let admin = self.admin.address, let http = self.http.address
        else { return false }
        return Self.isLoopback(admin.host) && Self.isLoopback(http.host)
            && !http.host.contains(":")
    }

    /// Whether an IP address is reached from this machine alone.
    static func isLoopback(_ host: String) -> Bool {
        let address = try? SocketAddress(ipAddress: host, port: 0)
        guard let bytes = address?.ipBytes, bytes.count == 16 else {
            return address?.ipBytes?.first == 127
        }
        return bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
    }
}

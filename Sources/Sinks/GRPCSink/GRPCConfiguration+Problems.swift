// What contradicts itself in the keys of the grpc sink.
package import ConfigurationKeys
package import SinkKit

extension GRPCConfiguration: SinkConfiguration {
    /// Refuses what the sink cannot use.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        let target = GRPCTarget(self.target)
        if self.target.isEmpty {
            problems.refuse(\.target, "the grpc sink needs it, as in backend.example.com:443")
        } else if target == nil {
            problems.refuse(
                \.target,
                "has to be a host and a port from 1 to 65535, as in example.com:443 or [::1]:443")
        }
        let mode = Self.name(of: \.tlsMode)
        if self.tlsMode == .plaintext, target?.isLoopback != true, !self.allowsPlaintext {
            problems.refuse(
                \.tlsMode,
                "\(Self.name(of: \.target)) is not this machine: anybody on the way could read and "
                    + "change hits; set it to auto or tls, or set "
                    + "\(Self.name(of: \.allowsPlaintext)) to true")
        }
        for file in [\Self.tlsRoots, \.tlsCertificate]
        where !self.isEncrypted && !self[keyPath: file].isEmpty {
            problems.refuse(file, "is for TLS, which is not used: set \(mode) to tls")
        }
        problems.refuse(\.tlsCertificate, without: \.tlsKey, in: self)
        problems.refuse(\.tlsKey, without: \.tlsCertificate, in: self)
        if self.windowBytes < self.messageBytes {
            problems.refuse(
                \.windowBytes,
                "has to be at least \(Self.name(of: \.messageBytes)) (\(self.messageBytes))")
        }
    }
}

package import ConfigurationKeys
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import TrackingRules
internal import WireFormat

/// How a backend is reached.
package struct Backend: Sendable {
    /// The keys `grpc.*`.
    package let configuration: GRPCConfiguration
    private let target: GRPCTarget

    /// How long the answer to a PING may take, unless the next one comes before that: each PING
    /// restarts the time of the one before (grpc-swift-nio-transport 2.9.2), which never ends then.
    private static let keepaliveTimeout = Duration.seconds(20)
    /// The maximum bytes of a key or token.
    private static let maxKeyBytes = 16 << 10

    /// A backend that nothing has connected to yet.
    ///
    /// - Throws: `ConfigurationError` if the target, or a file, cannot be used.
    package init(_ configuration: GRPCConfiguration) throws(ConfigurationError) {
        guard let target = GRPCTarget(configuration.target) else {
            throw ConfigurationError(["grpc.target has to be host:port, or [IPv6]:port"])
        }
        self.configuration = configuration
        self.target = target
        do {
            // What cannot be used stops the start; later on, it holds deliveries up.
            _ = try self.metadata()
        } catch {
            throw ConfigurationError(["\(error)"])
        }
        do {
            _ = try self.transport()
        } catch {
            throw ConfigurationError([
                "grpc.tls: no connection can be made with its certificate, key and roots: "
                    + String(reasonOf: error)
            ])
        }
    }

    /// The sink's own limits.
    var limits: DeliverState.Limits {
        DeliverState.Limits(
            hits: self.configuration.windowHits, bytes: self.configuration.windowBytes,
            messageBytes: self.configuration.messageBytes, busy: self.configuration.maxBusy)
    }

    /// The options of a call.
    var options: CallOptions {
        var options = CallOptions.defaults
        options.maxResponseMessageBytes = self.configuration.answerBytes
        // What a client receives, the library limits by the other name (grpc-swift-nio-transport
        // 2.9.2), and what it sends by neither.
        options.maxRequestMessageBytes = self.configuration.answerBytes
        return options
    }

    /// The metadata of a call; reads the key anew.
    ///
    /// - Throws: `BackendFailure`, which never quotes the file.
    func metadata() throws(BackendFailure) -> Metadata {
        let path = self.configuration.keyFile
        if path.isEmpty { return [:] }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw BackendFailure("grpc.key_file is \"\(path)\", which cannot be read")
        }
        var text = Array(data.prefix(Self.maxKeyBytes + 2))
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        guard (1...Self.maxKeyBytes).contains(text.count), text.allSatisfy({ 0x21...0x7e ~= $0 })
        else {
            throw BackendFailure(
                "grpc.key_file is \"\(path)\", which has to hold one line with a key or a token, "
                    + "of at most \(Self.maxKeyBytes) characters")
        }
        return ["authorization": "Bearer \(String(decoding: text, as: UTF8.self))"]
    }

    /// A transport for one connection: only the forwarder's backoff applies between them.
    func transport() throws -> HTTP2ClientTransport.Posix {
        let configuration = self.configuration
        return try HTTP2ClientTransport.Posix(
            target: self.resolvable, transportSecurity: self.security,
            config: .defaults { config in
                config.connection.keepalive = .init(
                    time: configuration.keepaliveInterval,
                    timeout: min(Self.keepaliveTimeout, configuration.keepaliveInterval),
                    allowWithoutCalls: false)
            })
    }

    private var resolvable: any ResolvableTarget {
        switch self.target.kind {
        case .name: .dns(host: self.target.host, port: self.target.port)
        case .ipv4: .ipv4(address: self.target.host, port: self.target.port)
        case .ipv6: .ipv6(address: self.target.host, port: self.target.port)
        }
    }

    private var security: HTTP2ClientTransport.Posix.TransportSecurity {
        let configuration = self.configuration
        guard configuration.isEncrypted else { return .plaintext }
        return .tls { config in
            if !configuration.tlsRoots.isEmpty {
                config.trustRoots = .certificates([
                    .file(path: configuration.tlsRoots, format: .pem)
                ])
            }
            if !configuration.tlsCertificate.isEmpty {
                config.certificateChain = [
                    .file(path: configuration.tlsCertificate, format: .pem)
                ]
                config.privateKey = .file(path: configuration.tlsKey, format: .pem)
            }
        }
    }
}

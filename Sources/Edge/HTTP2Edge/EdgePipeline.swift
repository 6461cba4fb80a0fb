// All handlers in front of the gRPC library, in order from the socket: those of a connection and
// those of a stream. The transport offers no way to add handlers except its debugging callbacks;
// only this file uses them.
internal import GRPCCore
package import GRPCNIOTransportHTTP2Posix
internal import Glibc
internal import NIOCore
internal import NIOSSL

/// Puts the edge in front of the gRPC library: the handlers of every connection and stream of one
/// server, with the counters that they share. The server creates one and calls `install` before it
/// listens.
///
/// Its handlers run on NIO's event loops. They never block, read no file and validate no event.
package struct EdgePipeline: Sendable {
    private let configuration: EdgeConfiguration
    private let connections: ConnectionConfiguration
    private let table: ConnectionTable
    private let connectionEnds: ConnectionEnds
    private let openConnections: OpenConnections
    private let messageLimits: MessageLimits
    private let compressors: CompressorBudget?
    private let termination: CallTermination

    /// Creates a pipeline with new counters.
    ///
    /// - Parameters:
    ///   - configuration: streams, metadata, unread answers and compression.
    ///   - connections: the limits on connections.
    ///   - connectionEnds: counts the connections that the server ends.
    ///   - openConnections: tracks every connection.
    ///   - messageLimits: the limits on messages, and the counter of the bytes that wait.
    ///   - termination: words the trailers of a call that ends here.
    package init(
        _ configuration: EdgeConfiguration, connections: ConnectionConfiguration,
        connectionEnds: ConnectionEnds, openConnections: OpenConnections,
        messageLimits: MessageLimits, termination: CallTermination
    ) {
        self.configuration = configuration
        self.connections = connections
        self.table = ConnectionTable(
            maxCount: connections.maxCount, maxPerAddress: connections.maxPerAddress,
            newPerSecond: connections.newPerSecond)
        self.connectionEnds = connectionEnds
        self.openConnections = openConnections
        self.messageLimits = messageLimits
        self.compressors =
            configuration.isCompressionEnabled
            ? CompressorBudget(limit: configuration.maxCompressedStreams) : nil
        self.termination = termination
    }

    /// Sets the transport's options, and makes it add the handlers.
    package func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        // Must be set: with nil, the transport would end a connection at its 101st stream.
        config.http2.maxConcurrentStreams = self.configuration.streamsPerConnection
        config.http2.targetWindowSize = 1 << 20
        config.http2.maxFrameSize = 1 << 16
        config.rpc.maxRequestPayloadSize = MessageLimits.maxBytes
        // An answer already covers all that is settled, so it does not wait for other streams'
        // answers, only for what the event loop is handling now. Any delay needs a timer, which
        // costs two system calls and a wake-up per flush.
        config.connection.flushCoalescing = .init(maxFlushDelay: .zero, maxBytes: 64 << 10)
        // The transport's idle timeout leaks a handler per connection, because it never releases
        // its timer. ConnectionGuard has an idle timeout instead.
        config.connection.keepalive = .init(
            time: self.connections.keepaliveInterval, timeout: self.connections.keepaliveTimeout,
            // The guard has removed the clients' PINGs, so this policy never sees one.
            clientBehavior: .init(
                minPingIntervalWithoutCalls: .seconds(1), allowWithoutCalls: true))
        // Without `.none` the library would refuse clients that send "identity".
        config.compression.enabledAlgorithms =
            self.compressors == nil ? .none : [.none, .gzip, .deflate]
        config.channelDebuggingCallbacks.onBindTCPListener = { listener in
            listener.setOption(.backlog, value: Self.backlog)
        }
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { connection in
            connection.eventLoop.makeCompletedFuture { try self.accept(connection) }
        }
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            stream.eventLoop.makeCompletedFuture { try self.addHandlers(to: stream) }
        }
    }

    // MARK: Connections

    /// Adds the guard to a connection that has the transport's handlers, or refuses the connection.
    private func accept(_ connection: any Channel) throws {
        self.openConnections.add(connection)
        let address = self.countedAddress(of: connection)
        if let refusal = self.table.admit(address) {
            self.connectionEnds.count(refusal)
            let pipeline = connection.pipeline.syncOperations
            return try pipeline.addHandler(RefusingHandler(), position: .first)
        }
        connection.closeFuture.whenComplete { _ in self.table.release(address) }
        // Fails if the socket is not TCP or is already closed; neither matters.
        try? connection.syncOptions?.setOption(
            ChannelOptions.Types.SocketOption(
                level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)),
            value: Int(TimeAmount(self.connections.userTimeout).milliseconds))
        try self.addHandlers(
            toConnection: connection, ConnectionShares(peer: address?.bytes ?? []))
    }

    /// Adds the handlers of a connection: TLS if configured, the guard, and then the transport's
    /// own, HTTP/2 first. The first bytes are looked at before TLS and behind it.
    private func addHandlers(
        toConnection connection: any Channel, _ shares: ConnectionShares
    ) throws {
        let pipeline = connection.pipeline.syncOperations
        let tls = try? pipeline.handler(type: NIOSSLServerHandler.self)
        let ends = self.connectionEnds
        let failures = tls.map { _ in TLSFailureHandler { ends.count(.tls) } }
        let handlers: [any ChannelHandler] =
            [failures].compactMap(\.self) + [
                FirstBytesHandler(expected: .http2),
                ConnectionGuard(
                    self.connections, maxAge: self.drawnAge(), shares: shares,
                    onEnd: self.connectionEnds.count),
            ]
        try pipeline.addHandlers(handlers, position: tls.map { .after($0) } ?? .first)
        guard tls != nil else { return }
        try pipeline.addHandler(FirstBytesHandler(expected: .tls), position: .first)
    }

    /// The address under which a connection is counted; nil if only the total counts it.
    private func countedAddress(of connection: any Channel) -> PeerAddress? {
        guard let address = connection.remoteAddress,
            !self.connections.trustedProxies.contains(where: { $0.contains(address) })
        else { return nil }
        return PeerAddress(address)
    }

    /// The random variation of the maximum age in percent: connections do not end all at once.
    private static let ageJitterPercent: Int64 = 10
    /// Connections that the kernel holds until they are accepted; net.core.somaxconn caps them.
    private static let backlog: CInt = 1024

    /// The maximum age of a connection, drawn at random for each.
    private func drawnAge() -> TimeAmount {
        let age = TimeAmount(self.connections.maxAge).nanoseconds
        let spread = age / 100 * Self.ageJitterPercent
        return .nanoseconds(age + Int64.random(in: -spread...spread))
    }

    // MARK: Streams

    /// Adds the handlers of a stream: its edge, the check for unread answers, and then the
    /// transport's own, gRPC's framing first.
    private func addHandlers(to stream: any Channel) throws {
        // No guard if the connection has closed meanwhile: then there is nothing to count.
        let connection = try? stream.parent?.pipeline.syncOperations.handler(
            type: ConnectionGuard.self)
        let handlers: [any ChannelHandler] = [
            StreamEdge(
                limits: self.messageLimits,
                metadataLimit: MetadataLimit(maxBytes: self.configuration.metadataBytes),
                compressors: self.compressors,
                connection: connection?.shares ?? ConnectionShares(),
                termination: self.termination),
            UnreadAnswersHandler(timeout: TimeAmount(self.configuration.answerTimeout)),
        ]
        try stream.pipeline.syncOperations.addHandlers(handlers, position: .first)
        connection?.streamOpened(stream)
    }
}

extension TimeAmount {
    fileprivate var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}

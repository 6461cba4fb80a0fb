// All handlers in front of the gRPC library, in order from the socket: those of a connection and
// those of a stream. The transport offers no way to add handlers except its debugging callbacks;
// only this file uses them.
internal import GRPCCore
package import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import NIOSSL

/// Puts the edge in front of the gRPC library: the handlers of every connection and stream of one
/// server, with the counters that they share. The server creates one and calls `install` before it
/// listens.
///
/// Its handlers run on NIO's event loops. They never block, read no file and validate no event.
package struct EdgePipeline: Sendable {
    private let configuration: EdgeConfiguration
    private let connections: ConnectionAdmission
    private let messageLimits: MessageLimits
    private let compressors: CompressorBudget?
    private let termination: CallTermination

    /// Creates a pipeline with new counters.
    ///
    /// - Parameters:
    ///   - configuration: streams, metadata, unread answers and compression.
    ///   - connections: takes connections, within their limits.
    ///   - messageLimits: the limits on messages, and the counter of the bytes that wait.
    ///   - termination: words the trailers of a call that ends here.
    package init(
        _ configuration: EdgeConfiguration, connections: ConnectionAdmission,
        messageLimits: MessageLimits, termination: CallTermination
    ) {
        self.configuration = configuration
        self.connections = connections
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
            time: self.connections.configuration.keepaliveInterval,
            timeout: self.connections.configuration.keepaliveTimeout,
            // The guard has removed the clients' PINGs, so this policy never sees one.
            clientBehavior: .init(
                minPingIntervalWithoutCalls: .seconds(1), allowWithoutCalls: true))
        // Without `.none` the library would refuse clients that send "identity".
        config.compression.enabledAlgorithms =
            self.compressors == nil ? .none : [.none, .gzip, .deflate]
        config.channelDebuggingCallbacks.onBindTCPListener = { listener in
            listener.setOption(.backlog, value: ConnectionAdmission.backlog)
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
        guard let shares = try self.connections.admit(connection) else { return }
        try self.addHandlers(toConnection: connection, shares)
    }

    /// Adds the handlers of a connection: TLS if configured, the guard, and then the transport's
    /// own, HTTP/2 first. The first bytes are looked at before TLS and behind it.
    private func addHandlers(
        toConnection connection: any Channel, _ shares: ConnectionShares
    ) throws {
        let pipeline = connection.pipeline.syncOperations
        let tls = try? pipeline.handler(type: NIOSSLServerHandler.self)
        let failures = tls.map { _ in self.connections.failureHandler }
        let handlers: [any ChannelHandler] =
            [failures].compactMap(\.self) + [
                FirstBytesHandler(expected: .http2), self.connections.guardian(shares),
            ]
        try pipeline.addHandlers(handlers, position: tls.map { .after($0) } ?? .first)
        guard tls != nil else { return }
        try pipeline.addHandler(FirstBytesHandler(expected: .tls), position: .first)
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

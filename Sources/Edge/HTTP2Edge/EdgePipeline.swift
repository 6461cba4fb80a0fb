// What stands in front of the gRPC library, from the socket inwards, in one place: the handlers of
// a connection and those of a stream. The transport has no way to add handlers but its callbacks
// for debugging; they are used here alone.
internal import GRPCCore
package import GRPCNIOTransportHTTP2Posix
internal import Glibc
internal import NIOCore
internal import NIOSSL

/// The handlers of every connection and stream of one server, and what they share.
package struct EdgePipeline: Sendable {
    private let configuration: EdgeConfiguration
    private let connections: ConnectionConfiguration
    private let table: ConnectionTable
    private let connectionEnds: ConnectionEnds
    private let openConnections: OpenConnections
    private let messageLimits: MessageLimits
    private let compressors: CompressorBudget?
    private let termination: CallTermination

    /// A pipeline with counts of its own.
    ///
    /// - Parameters:
    ///   - configuration: streams, metadata, unread answers and compression.
    ///   - connections: how many there may be, and what each may do.
    ///   - connectionEnds: counts the connections that the server ends.
    ///   - openConnections: is told of every connection.
    ///   - messageLimits: how large messages may be, how long they may take, and where they wait.
    ///   - termination: what a client reads when its call ends here.
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

    /// Sets the transport's options, and has it put the handlers in.
    package func install(in config: inout HTTP2ServerTransport.Posix.Config) {
        // Never left unset: the transport would end a connection at its 101st stream.
        config.http2.maxConcurrentStreams = self.configuration.streamsPerConnection
        config.http2.targetWindowSize = 1 << 20
        config.http2.maxFrameSize = 1 << 16
        config.rpc.maxRequestPayloadSize = MessageLimits.maxBytes
        // An answer tells all that is settled already, so it waits for no other stream's: only for
        // what the event loop has at hand. Any delay takes a timer, which costs two system calls
        // and a wake-up for each flush.
        config.connection.flushCoalescing = .init(maxFlushDelay: .zero, maxBytes: 64 << 10)
        // The transport's own idle time leaks a handler with every connection, as its timer is
        // never let go: ConnectionGuard has one.
        config.connection.keepalive = .init(
            time: self.connections.keepaliveInterval, timeout: self.connections.keepaliveTimeout,
            // The guard has taken the clients' PINGs out: this policy sees none.
            clientBehavior: .init(
                minPingIntervalWithoutCalls: .seconds(1), allowWithoutCalls: true))
        // Without `.none` the library would refuse clients that say "identity".
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

    /// Takes a connection in, with the transport's handlers in it already, or has it closed.
    private func accept(_ connection: any Channel) throws {
        self.openConnections.add(connection)
        let address = self.countedAddress(of: connection)
        if let refusal = self.table.admit(address) {
            self.connectionEnds.count(refusal)
            let pipeline = connection.pipeline.syncOperations
            return try pipeline.addHandler(RefusingHandler(), position: .first)
        }
        connection.closeFuture.whenComplete { _ in self.table.release(address) }
        // No socket option where it is no TCP socket, or already gone: nothing is lost by that.
        try? connection.syncOptions?.setOption(
            ChannelOptions.Types.SocketOption(
                level: .tcp, name: .init(rawValue: TCP_USER_TIMEOUT)),
            value: Int(TimeAmount(self.connections.userTimeout).milliseconds))
        try self.addHandlers(toConnection: connection)
    }

    /// The handlers of a connection: TLS where there is any, the guard, and then the transport's
    /// own, HTTP/2 first.
    private func addHandlers(toConnection connection: any Channel) throws {
        let pipeline = connection.pipeline.syncOperations
        let tls = try? pipeline.handler(type: NIOSSLServerHandler.self)
        let ends = self.connectionEnds
        let failures = tls.map { _ in TLSFailureHandler { ends.count(.tls) } }
        let handlers: [any ChannelHandler] =
            [failures].compactMap(\.self) + [
                ConnectionGuard(
                    self.connections, maxAge: self.drawnAge(), onEnd: self.connectionEnds.count)
            ]
        try pipeline.addHandlers(handlers, position: tls.map { .after($0) } ?? .first)
    }

    /// What a connection is counted by; nil where it counts in all alone.
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

    /// The age at which a connection ends: drawn for each.
    private func drawnAge() -> TimeAmount {
        let age = TimeAmount(self.connections.maxAge).nanoseconds
        let spread = age / 100 * Self.ageJitterPercent
        return .nanoseconds(age + Int64.random(in: -spread...spread))
    }

    // MARK: Streams

    /// The handlers of a stream: its edge, the watch over unread answers, and then the transport's
    /// own, gRPC's framing first.
    private func addHandlers(to stream: any Channel) throws {
        let handlers: [any ChannelHandler] = [
            StreamEdge(
                limits: self.messageLimits,
                metadataLimit: MetadataLimit(maxBytes: self.configuration.metadataBytes),
                compressors: self.compressors, termination: self.termination),
            UnreadAnswersHandler(timeout: TimeAmount(self.configuration.answerTimeout)),
        ]
        try stream.pipeline.syncOperations.addHandlers(handlers, position: .first)
        // No guard where the connection has gone meanwhile: then nothing is to be counted.
        let connection = stream.parent?.pipeline.syncOperations
        try? connection?.handler(type: ConnectionGuard.self).streamOpened(stream)
    }
}

extension TimeAmount {
    fileprivate var milliseconds: Int64 { self.nanoseconds / 1_000_000 }
}

package import ConfigurationKeys
package import HTTP2Edge
package import Logging
internal import NIOCore
internal import NIOPosix
package import NIOSSL
internal import Synchronization

/// The HTTP port: accepts connections, and gives their requests to the doors.
package final class HTTPDoor: Sendable {
    private let port: DoorPort
    private let address: ListenAddress
    private let connections: OpenConnections
    private let logger: Logger
    private let state = Mutex(State())
    /// Ends once every connection has, after the port is closed.
    private let (drained, drain) = AsyncStream.makeStream(of: Void.self)

    private struct State {
        var listener: (any Channel)?
        var isStopping = false
    }

    /// Creates a port that does not listen yet.
    ///
    /// - Parameters:
    ///   - address: where it listens.
    ///   - limits: the limits on messages, and the counter of those that wait.
    ///   - admission: takes connections, within their limits.
    ///   - connections: tracks every connection.
    ///   - tls: makes the TLS handler of a connection; nil for plaintext.
    ///   - doors: answer the requests.
    ///   - count: called with each request that was answered, or whose client went away.
    package init(
        _ configuration: HTTPConfiguration, at address: ListenAddress, limits: MessageLimits,
        admission: ConnectionAdmission, connections: OpenConnections,
        tls: (@Sendable () throws -> NIOSSLServerHandler)?, doors: DoorSwitch, logger: Logger,
        count: @escaping @Sendable (DoorTally) -> Void
    ) {
        self.port = DoorPort(
            configuration: configuration, doors: doors, limits: limits, admission: admission,
            tls: tls, count: count)
        self.address = address
        self.connections = connections
        self.logger = logger
    }

    /// Binds the port.
    ///
    /// - Returns: its URL.
    /// - Throws: `IOError` if it cannot be bound.
    package func bind() async throws -> String {
        let port = self.port
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: ConnectionAdmission.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try port.accept(channel) }
            }
            .bind(host: self.address.host, port: self.address.port).get()
        let isStopping = self.state.withLock { state in
            state.listener = listener
            return state.isStopping
        }
        if isStopping { listener.close(promise: nil) }
        var bound = self.address
        bound.port = listener.localAddress?.port ?? bound.port
        self.logger.info("http listening", metadata: ["address": "\(bound)"])
        return "\(port.tls == nil ? "http" : "https")://\(bound)/"
    }

    /// Serves until the shutdown, and until each connection has ended: who limits that time closes
    /// the connections.
    package func serve() async {
        guard let listener = self.state.withLock({ $0.listener }) else { return }
        await withTaskCancellationHandler {
            // Fails never: closing is all that is waited for.
            try? await listener.closeFuture.get()
            for await _ in self.drained {}
        } onCancel: {
            listener.close(promise: nil)
            self.drain.finish()
        }
    }

    /// Closes the port, and lets each connection end with the answers that are under way.
    package func beginGracefulShutdown() {
        let (listener, isFirst) = self.state.withLock { state in
            defer { state.isStopping = true }
            return (state.listener, !state.isStopping)
        }
        guard isFirst else { return }
        listener?.close(promise: nil)
        self.connections.quiesceAll { self.drain.finish() }
    }
}

internal import AdminServer
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
internal import Logging
internal import NIOCore
internal import Operations
internal import ServiceLifecycle
internal import Telemetry

/// Runs a gRPC server until shutdown. A graceful shutdown lets clients finish within
/// `drain.seconds`, then closes every connection; the transport alone would wait for a peer's PING
/// for ever.
struct GRPCService: Service {
    let server: GRPCServer<HTTP2ServerTransport.Posix>
    /// The HTTP port; nil if it is off. It begins before and drains together with the gRPC port.
    let doors: DoorService?
    let board: HealthBoard
    let connections: OpenConnections
    let tap: VerdictTap
    /// The bound address, HOST:PORT.
    let address: String
    /// Finishes once the admin server has bound its port. Until then startup may fail, so this
    /// server does not listen.
    let adminBound: AsyncStream<Void>
    /// How long it still accepts calls after it has reported that it is not ready, and how long it
    /// drains after that.
    let drainTimes: (delay: Duration, timeout: Duration)
    let logger: Logger
    let onListening: @Sendable (String) -> Void
    /// Called when a graceful shutdown begins.
    let onDrain: @Sendable () -> Void
    /// Called when the drain is over, before every connection is closed: calls that wait for
    /// anything else have to end, since the transport waits for each of them.
    let onDrainOver: @Sendable () async -> Void

    func run() async throws {
        for await _ in self.adminBound {}
        try Task.checkCancellation()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            try await self.doors?.begin(in: &group, self.board)
            group.addTask {
                try await self.serve()
                await self.doors?.waitForEnd()
                return true
            }
            group.addTask {
                await self.announce()
                return false
            }
            group.addTask {
                await self.board.run()
                return false
            }
            group.addTask {
                await self.drain()
                return true
            }
            // Ends when all clients have disconnected, or when the drain timeout is over.
            while let isOver = try await group.next() { if isOver { break } }
            group.cancelAll()
            self.connections.closeAll()
            self.doors?.closeAll()
        }
    }

    private func serve() async throws {
        do {
            try await self.server.serve()
        } catch let error as RuntimeError {
            guard let cause = error.cause as? IOError, ListenError.codes.contains(cause.errnoCode)
            else { throw error }
            throw ListenError(key: "listen", address: self.address, code: cause.errnoCode)
        }
    }

    /// The bound address; nil if binding failed, which `serve` reports.
    private func listeningAddress() async -> GRPCNIOTransportCore.SocketAddress? {
        try? await self.server.listeningAddress
    }

    private func announce() async {
        guard let address = await self.listeningAddress() else { return }
        let place =
            address.ipv4.map { "\($0.host):\($0.port)" }
            ?? address.ipv6.map { "[\($0.host)]:\($0.port)" } ?? "\(address)"
        self.logger.info("listening", metadata: ["address": "\(place)"])
        self.board.beginListening()
        self.onListening(place)
    }

    private func drain() async {
        // Throws where serving has ended without a shutdown, as where the port is taken: then
        // nobody is told of a drain.
        let isShutdown = (try? await gracefulShutdown()) != nil
        if isShutdown { self.onDrain() }
        // NOT_SERVING comes first, so that load balancers move on before streams announce their
        // end.
        await self.board.beginDraining()
        let (delay, timeout) = self.drainTimes
        if isShutdown, delay > .zero {
            self.logger.info(
                "not ready, still accepting", metadata: ["seconds": .seconds(delay)])
            try? await Task.sleep(for: delay)
        }
        if isShutdown {
            self.logger.info("draining", metadata: ["seconds": .seconds(timeout)])
        }
        self.tap.close()
        self.server.beginGracefulShutdown()
        self.doors?.beginGracefulShutdown()
        // Cancelled when serving ends earlier, and by a second signal.
        try? await Task.sleep(for: timeout)
        await self.onDrainOver()
    }
}

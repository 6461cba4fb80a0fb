internal import AdminServer
internal import GRPCCore
internal import HTTP2Edge
internal import HTTPDoor
internal import NIOCore

/// The HTTP port, and the services behind it. `GRPCService` runs it beside the gRPC port.
struct DoorService: Sendable {
    let door: HTTPDoor
    let transport: DoorTransport
    let server: GRPCServer<DoorTransport>
    let connections: OpenConnections
    /// HOST:PORT, as configured.
    let address: String
    /// Called with the URL once the port is bound.
    let onListening: @Sendable (String) -> Void
    /// Ends once the port is closed, and every connection.
    private let ended: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(
        door: HTTPDoor, transport: DoorTransport, server: GRPCServer<DoorTransport>,
        connections: OpenConnections, address: String,
        onListening: @escaping @Sendable (String) -> Void
    ) {
        (self.ended, self.end) = AsyncStream.makeStream(of: Void.self)
        self.door = door
        self.transport = transport
        self.server = server
        self.connections = connections
        self.address = address
        self.onListening = onListening
    }

    /// Binds the port, and serves in the group until the shutdown: first the services, so that no
    /// request comes before them.
    ///
    /// - Throws: `ListenError` if the port cannot be bound.
    func begin(
        in group: inout ThrowingTaskGroup<Bool, any Error>, _ board: HealthBoard
    ) async throws {
        group.addTask {
            try await self.server.serve()
            return false
        }
        await self.transport.waitUntilReady()
        self.onListening(try await self.bind())
        board.beginListening(.http)
        group.addTask {
            await self.door.serve()
            // No connection is left that could ask.
            self.server.beginGracefulShutdown()
            self.end.finish()
            return false
        }
    }

    private func bind() async throws -> String {
        do {
            return try await self.door.bind()
        } catch let error as IOError where ListenError.codes.contains(error.errnoCode) {
            throw ListenError(key: "http.listen", address: self.address, code: error.errnoCode)
        }
    }

    /// Closes the port, and lets each connection end with the answers that are under way.
    func beginGracefulShutdown() { self.door.beginGracefulShutdown() }

    /// Returns once the port is closed, and every connection.
    func waitForEnd() async { for await _ in self.ended {} }

    /// Closes all connections without waiting for their peers.
    func closeAll() { self.connections.closeAll() }
}

// The server as `sightline serve` runs it, in a directory and on a port of its own.
@testable internal import AdminServer
internal import HTTP2Edge
internal import Logging
@testable package import ServerConfiguration
package import SightlineClient
package import Telemetry
internal import TestSupport
@testable internal import TrackingServer
internal import TrackingJournal

/// A server that runs while a test does.
package struct RunningServer: Sendable {
    package let address: ServerAddress
    /// Its data directory.
    package let directory: String
    private let application: Application

    /// What it counts.
    package var metrics: MetricsRegistry { self.application.metrics }

    /// Begins its graceful shutdown, as SIGTERM would.
    package func stop() async { await self.application.stop() }

    /// Runs a server around `body`; it has stopped, gracefully, when this returns.
    package static func with<Value: Sendable>(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (RunningServer) async throws -> Value
    ) async throws -> Value {
        try await TestDirectory.with { directory in
            try await Self.run(in: directory, configure, body)
        }
    }

    /// Runs a server in a directory that is the test's own, so that it can be looked into
    /// afterwards.
    package static func run<Value: Sendable>(
        in directory: String, _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (RunningServer) async throws -> Value
    ) async throws -> Value {
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.dataDirectory = directory
        configuration.admin.address = nil
        configuration.journal.windowCapacity = 10_000
        // A client that waits for its turn on a busy machine is none that hangs, and nor is a stop.
        configuration.edge.messageTimeout = .seconds(300)
        configuration.edge.answerTimeout = .seconds(300)
        configuration.connections.grace = .seconds(300)
        (configuration.drainTimeout, configuration.flushTimeout) = (.seconds(300), .seconds(300))
        configuration.stopTimeout = .seconds(600)
        configure(&configuration)
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        let application = try await Application(
            configuration: configuration, build: Build(version: "test"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            onListening: { listening.yield($0) }, onFailure: { _ in })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { listening.finish() }
                try await application.run()
            }
            var iterator = addresses.makeAsyncIterator()
            guard let address = await iterator.next() else {
                try await group.waitForAll()
                throw ServerDidNotListen()
            }
            let server = RunningServer(
                address: try ServerAddress(address), directory: directory,
                application: application)
            do {
                let value = try await body(server)
                await application.stop()
                try await group.waitForAll()
                return value
            } catch {
                await application.stop()
                throw error
            }
        }
    }

    private struct ServerDidNotListen: Error {}
}

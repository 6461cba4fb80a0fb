internal import Logging
internal import Synchronization

extension SightlineClient {
    /// Makes a client and runs it while `body` runs; then closes it, also where `body` has thrown.
    /// If the close fails as well, the error of `body` is thrown, and the other is logged.
    ///
    /// - Parameter closeTimeout: how long the end waits for verdicts.
    /// - Throws: the errors of `init`, `body` and `close`.
    public static func with<Value: Sendable>(
        _ configuration: ClientConfiguration, closeTimeout: Duration = .seconds(60),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (SightlineClient) async throws -> Value
    ) async throws -> Value {
        let client = try SightlineClient(configuration)
        return try await withThrowingTaskGroup(of: Void.self, returning: Value.self) { group in
            group.addTask { try await client.run() }
            let outcome: Result<Value, any Error>
            do {
                outcome = .success(try await body(client))
            } catch {
                outcome = .failure(error)
            }
            do {
                try await client.close(timeout: closeTimeout)
            } catch {
                guard case .failure = outcome else { throw error }
                client.warn("\(error)")
            }
            return try outcome.get()
        }
    }

    /// Logs a warning with the server's address.
    func warn(_ text: String) {
        Logger(label: "sightline.client").warning(
            "\(text)", metadata: ["target": "\(self.configuration.address)"])
    }

    /// What is lost if the client goes now; nil if nothing is, or if its close has said so.
    var loss: String? {
        self.state.withLock { state in
            let isClosed = state.isClosing && state.isOver
            guard !isClosed, state.spool == nil, state.outbox.count > 0 else { return nil }
            let reason = state.isRunning ? "close the client first" : "run() was not called"
            return "\(state.outbox.count) events have no verdict, and are lost: \(reason)"
                + ClientStatistics.words(lastFailure: state.lastFailure)
        }
    }

    /// Whether `run` has been called; it may have ended since.
    var hasBegun: Bool { self.state.withLock { $0.isRunning } }

    /// Whether `run` has ended; it may not even have begun.
    var isOver: Bool { self.state.withLock { $0.isOver } }
}

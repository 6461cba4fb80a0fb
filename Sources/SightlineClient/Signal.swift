/// Wakes a single waiting task. Several signals before a wait count once.
package struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Creates a signal that nobody has raised.
    package init() {
        (self.stream, self.continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the waiting task, or the next one to wait.
    package func raise() {
        self.continuation.yield()
    }

    /// Waits for a signal since the last wait.
    ///
    /// - Throws: `CancellationError`.
    package func wait() async throws {
        for await _ in self.stream {
            return
        }
        try Task.checkCancellation()
    }
}

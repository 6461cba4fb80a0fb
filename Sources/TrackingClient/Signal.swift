// Wakes one waiting task. Raising it many times before the wait counts once.

/// A bell with one listener.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (self.stream, self.continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func raise() {
        self.continuation.yield()
    }

    /// Returns when it has been raised since the last wait. Throws when the task is cancelled.
    func wait() async throws {
        for await _ in self.stream {
            return
        }
        try Task.checkCancellation()
    }
}

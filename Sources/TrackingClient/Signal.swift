/// Wakes a single waiting task. Several signals before a wait count once.
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

    /// Waits for a signal since the last wait.
    ///
    /// - Throws: `CancellationError`.
    func wait() async throws {
        for await _ in self.stream {
            return
        }
        try Task.checkCancellation()
    }
}

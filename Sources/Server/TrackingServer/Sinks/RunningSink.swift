internal import Delivery
internal import ServerConfiguration

/// One sink of a running server, from its first batch until it is removed.
struct RunningSink: Sendable {
    /// As the configuration last had it.
    var listed: ListedSink
    /// Its backend. Batches go to it through `sink` alone.
    let opened: OpenedSink
    /// What its backend's files take on disk; nil if it has none.
    let usage: DiskUsage?
    let sink: SerializedSink
    let state: SinkState
    /// Finished when it is removed, and when its forwarder has ended.
    private let removal = Latch()
    private let end = Latch()

    init(listed: ListedSink, opened: OpenedSink, sink: SerializedSink, state: SinkState) {
        self.listed = listed
        self.opened = opened
        self.usage = opened.files.isEmpty ? nil : DiskUsage(of: opened.files)
        self.sink = sink
        self.state = state
    }

    var name: String { self.listed.name }

    /// Runs its forwarder until the server stops or the sink is removed.
    ///
    /// - Throws: an error if a batch cannot be read.
    func run(_ forwarder: Forwarder) async throws {
        defer { self.end.open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await forwarder.run() }
            group.addTask { await self.removal.wait() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Ends its delivery and a replay to it with the batch that is under way, and returns after it.
    func remove() async {
        self.removal.open()
        await self.end.wait()
        await self.sink.end()
    }
}

/// Opens once; one task waits for that.
private struct Latch: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (self.stream, self.continuation) = AsyncStream.makeStream() }

    func open() { self.continuation.finish() }

    /// Returns early in a task that is cancelled.
    func wait() async { for await _ in self.stream {} }
}

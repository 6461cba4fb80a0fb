// What makes a group durable; one type for each `Journal.Mode`.

/// Takes committed groups, and acknowledges them once they are durable.
protocol Durability: AnyObject, Sendable {
    var writer: JournalWriter { get }
    var cache: BatchCache { get }
    /// A random name of the journal that the writer's sequences belong to.
    var identity: String { get }
    /// The forwarders' executor; nil: the global one.
    var forwarderExecutor: (any TaskExecutor)? { get }

    /// Takes a group whose commit began at `start`: publishes its batch, if it has hits, to the
    /// forwarders, and settles its requests once they are durable. Called on the journal's queue.
    func take(_ group: [Journal.Submission], _ batch: JournalBatch?, start: ContinuousClock.Instant)
    /// Acts on a sink's cursor that has moved. May be called from any thread.
    func cursorMoved()
    /// Makes the sinks' cursors durable; if the disk has no room, waits until it has, or until the
    /// task is cancelled.
    func saveCursors() async
    /// Completes pending writes and closes the files. No group follows.
    func close() async
}

// What makes a group durable: one type for each `Journal.Mode`.

/// Where committed groups go, and what their clients wait for.
protocol Durability: AnyObject, Sendable {
    var writer: JournalWriter { get }
    var cache: BatchCache { get }
    /// A random name of the journal that the writer's sequences belong to.
    var identity: String { get }
    /// Where forwarders run; nil where that may be anywhere.
    var forwarderExecutor: (any TaskExecutor)? { get }

    /// Takes a group whose commit began at `start`: shows its batch, nil where it gave no hits, to
    /// the forwarders, and tells its clients once it is durable. On the journal's queue.
    func take(_ group: [Journal.Submission], _ batch: JournalBatch?, start: ContinuousClock.Instant)
    /// Notes that a sink's cursor has moved. May be called from anywhere.
    func cursorMoved()
    /// Makes durable where the sinks are; where there is no room for that, waits until there is, or
    /// until the task is cancelled.
    func saveCursors() async
    /// Ends what is under way, and closes the files. No group follows.
    func close() async
}

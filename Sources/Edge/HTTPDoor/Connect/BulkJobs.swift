/// Where long messages are read and written: there they delay no call with a single event.
struct BulkJobs: Sendable {
    /// From so many bytes on a message is read and written there. One that is compressed always is.
    static let leastBytes = 64 << 10

    /// Runs them; nil for where the caller runs.
    let executor: (any TaskExecutor)?

    /// Does the work, at once or as one job: what it makes of a message in between waits nowhere.
    func run<Value: Sendable>(
        isLong: Bool, _ work: @Sendable () throws(ConnectRefusal) -> Value
    ) async throws(ConnectRefusal) -> Value {
        guard isLong, let executor = self.executor else { return try work() }
        return try await withTaskExecutorPreference(executor) { () throws(ConnectRefusal) in
            // Its client went away while it waited for a thread.
            if Task.isCancelled { throw .internalFailure }
            return try work()
        }
    }
}

/// Work was not done in its time.
package struct TimeLimitPassed: Error {
    /// Creates the error.
    package init() {}
}

/// Does work within a time, and cancels it afterwards. Around a request and its answer's body: the
/// deadline of the client's own ends with the head of an answer.
///
/// - Parameter clock: measures the time; tests substitute it.
/// - Throws: `TimeLimitPassed`, or the work's error.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(),
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await clock.sleep(for: limit)
            throw TimeLimitPassed()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

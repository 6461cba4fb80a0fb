// The wall clock that credentials expire by. Tests bring their own.

/// Tells the time, and waits for one.
package struct CredentialClock: Sendable {
    /// Microseconds since 1970.
    package let now: @Sendable () -> Int64
    /// Returns once the clock shows this time or a later one; throws only when it is cancelled.
    package let wait: @Sendable (_ until: Int64) async throws -> Void

    /// The system's clock. It may be set while somebody waits, so it is looked at every minute.
    package static let system = CredentialClock(now: WallClock.microseconds) { time in
        while true {
            let (rest, isOver) = time.subtractingReportingOverflow(WallClock.microseconds())
            guard isOver || rest > 0 else { return }
            let longest: Int64 = 60_000_000
            try await Task.sleep(for: .microseconds(isOver ? longest : min(rest, longest)))
        }
    }
}

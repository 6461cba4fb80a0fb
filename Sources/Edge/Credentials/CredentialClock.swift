// The wall clock by which credentials expire.
internal import Pacing

/// The wall clock by which credentials expire. Tests substitute it.
package struct CredentialClock: Sendable {
    /// Microseconds since 1970.
    package let now: @Sendable () -> Int64
    /// Returns once the clock has reached this time; throws only if cancelled.
    package let wait: @Sendable (_ until: Int64) async throws -> Void

    /// The system's clock. `wait` checks it every minute, because it may be set meanwhile.
    package static let system = CredentialClock(now: WallClock.microseconds) { time in
        while true {
            let (rest, isOver) = time.subtractingReportingOverflow(WallClock.microseconds())
            guard isOver || rest > 0 else { return }
            let longest: Int64 = 60_000_000
            try await Task.sleep(for: .microseconds(isOver ? longest : min(rest, longest)))
        }
    }
}

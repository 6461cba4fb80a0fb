internal import ServiceLifecycle
internal import Synchronization
package import TrackingRules

/// Has a server judge kept events again by its rules, and record those that pass, as if they came
/// now.
package final class Recovery: EventRecovery {
    private let file: QuarantineFile?
    private let record: @Sendable (_ piece: RecoveryPiece, _ app: String?) async -> AdmittedRequest
    private let isUnderWay = Atomic(false)

    /// Creates a recovery.
    ///
    /// - Parameters:
    ///   - file: the kept events; nil if nothing is kept.
    ///   - record: judges and records a piece, and returns once it is settled.
    package init(
        of file: QuarantineFile?,
        record:
            @escaping @Sendable (
                _ piece: RecoveryPiece, _ app: String?
            ) async -> AdmittedRequest
    ) {
        self.file = file
        self.record = record
    }

    /// Recovers the events that a filter takes.
    package func recover(_ filter: QuarantineFilter, app: String?) async throws -> RecoveryCounts {
        guard let file else { throw RecoveryError.off }
        guard !self.isUnderWay.exchange(true, ordering: .acquiring) else {
            throw RecoveryError.busy
        }
        defer { self.isUnderWay.store(false, ordering: .releasing) }
        // What is refused from now on is left for the next recovery.
        let last = try await file.lastID()
        var (counts, after) = (RecoveryCounts(), Int64(0))
        while counts.interruption == nil {
            let rows = try await file.rows(filter, after: after, through: last)
            guard let newest = rows.last else { break }
            after = newest.id
            for piece in RecoveryPiece.pieces(of: rows) {
                // Deleted after they are durable: a crash in between makes them duplicates of the
                // next recovery.
                let outcome = piece.outcome(of: await self.record(piece, app))
                try await file.settle(outcome.settled, refused: outcome.refused)
                counts += outcome.counts
            }
            if Task.isShuttingDownGracefully { counts.interruption = "the server is stopping" }
        }
        return counts
    }
}

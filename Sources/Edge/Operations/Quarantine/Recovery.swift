internal import ServiceLifecycle
internal import Synchronization
package import TrackingRules

/// Judges kept events again by the server's present rules, and records those that pass as if they
/// arrived now.
package final class Recovery: EventRecovery {
    private let file: QuarantineFile?
    private let record: @Sendable (_ piece: RecoveryPiece, _ app: String?) async -> AdmittedRequest
    private let isUnderWay = Atomic(false)

    /// Creates a recovery.
    ///
    /// - Parameters:
    ///   - file: the kept events; nil if the quarantine is off.
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

    /// Recovers the events that match a filter.
    package func recover(_ filter: QuarantineFilter, app: String?) async throws -> RecoveryCounts {
        guard let file else { throw RecoveryError.off }
        guard !self.isUnderWay.exchange(true, ordering: .acquiring) else {
            throw RecoveryError.busy
        }
        defer { self.isUnderWay.store(false, ordering: .releasing) }
        // Events that are refused from now on are left for the next recovery.
        let last = try await file.lastID()
        var (counts, after) = (RecoveryCounts(), Int64(0))
        while counts.interruption == nil {
            let rows = try await file.rows(filter, after: after, through: last)
            guard let newest = rows.last else { break }
            after = newest.id
            for piece in RecoveryPiece.pieces(of: rows) {
                // Deletes them only now that they are durable: after a crash in between, the next
                // recovery finds duplicates.
                let outcome = piece.outcome(of: await self.record(piece, app))
                try await file.settle(outcome.settled, refused: outcome.refused)
                counts += outcome.counts
            }
            // A server of which a part has failed cancels its calls, and waits for them.
            if Task.isShuttingDownGracefully || Task.isCancelled {
                counts.interruption = counts.interruption ?? "the server is stopping"
            }
        }
        return counts
    }
}

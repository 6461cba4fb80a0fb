internal import Foundation
package import Logging
package import Pacing
package import SinkKit
internal import Storage
package import TrackingRules

/// The default sink: one row per hit in `hits.db`, which can be queried while the server runs. The
/// forwarder calls `deliver` with batches in the journal's order; `erase` deletes a subject's rows.
///
/// A batch's rows, its counts and the index of its keys are written in one transaction. The index
/// recognizes a hit that is delivered again, so a repeated delivery adds no row within
/// `sqlite.unique_days`. The sink never reads a hit back to decide that, and never blocks readers.
package final class SQLiteSink: ErasableSink {
    /// The sink's name, "sqlite".
    package let name = "sqlite"
    /// A transaction costs the same for one row as for many.
    package let maxBatch = BatchLimit.standard
    private let hits: HitsFile

    /// Opens the database, creating it if missing. While another program has locked it, the sink is
    /// unavailable.
    ///
    /// - Parameters:
    ///   - busyTimeout: how long each call waits for another program's lock.
    ///   - logger: warns if the file cannot be opened yet, and reports deleted hits.
    ///   - today: the day, since 1970 in UTC; tests substitute it.
    ///   - retention: decides up to which day hits may be deleted.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    package init(
        path: String, _ configuration: SQLiteConfiguration = SQLiteConfiguration(),
        busyTimeout: Duration = .seconds(5), logger: Logger? = nil,
        today: @escaping @Sendable () -> Int = { Int(Date().timeIntervalSince1970) / 86_400 },
        retention: RetentionClock = RetentionClock(.days)
    ) throws {
        self.hits = try HitsFile(
            path: path, configuration, busyTimeout: busyTimeout, logger: logger, today: today,
            retention: retention)
    }

    /// Inserts the batch in one transaction, except for hits that were counted before. Then deletes
    /// hits that are too old or too many, and some that a process before this one was erasing.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if let partition = try await self.hits.write(hits) { await self.hits.drop(partition) }
            await self.hits.deleteLeftRows()
            return .delivered
        } catch {
            return SinkAnswer(failure: error, of: "hits.db: ")
        }
    }

    /// Deletes the subject's rows. Their counts stay: they name no subject.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        self.hits.beginErasure()
        return await self.hits.next(HitErasure(of: subject))
    }
}

#if PostgreSQL
// The sink for a database: each hit is a row in PostgreSQL.
package import Logging
package import Pacing
package import SinkKit
internal import Synchronization
package import TrackingRules

/// Copies each batch into a table and moves a cursor there in the same transaction. A batch that
/// comes again changes nothing: the cursor tells it, or else the hits' ids do.
package final class PostgreSQLSink: ResumableSink, ErasableSink, ProbeableSink {
    /// "postgresql".
    package let name = "postgresql"
    /// As the configuration says.
    package let maxBatch: BatchLimit
    let configuration: PostgreSQLConfiguration
    let url: PostgreSQLURL
    let store: HitStore
    /// The sequence of the last group that was committed, as the journal has to remember it.
    private let confirmed = Mutex<Int64?>(nil)

    /// How long a stopping server waits for the database: less than the drain leaves.
    private static let grace = Duration.seconds(4)

    /// A sink that connects with its first batch.
    ///
    /// - Parameters:
    ///   - logger: tells of partitions that are dropped.
    ///   - today: the day in UTC; tests substitute it.
    ///   - retention: says whether partitions may be dropped by that day.
    /// - Throws: `PostgreSQLURL.Refusal`.
    package init(
        _ configuration: PostgreSQLConfiguration, logger: Logger? = nil,
        today: @escaping @Sendable () -> CalendarDay = { .today },
        retention: RetentionClock = RetentionClock(.days)
    ) throws {
        self.maxBatch = configuration.maxBatch
        self.configuration = configuration
        self.url = try PostgreSQLURL(configuration.url)
        self.store = HitStore(
            configuration, self.url, logger: logger, today: today, retention: retention)
    }

    /// The sequence of the last committed group.
    package var resumeToken: String { self.confirmed.withLock { $0.map { String($0) } ?? "" } }

    /// Goes on after that group: a database whose cursor is before it has lost hits.
    package func resume(at token: String) {
        self.confirmed.withLock { $0 = Int64(token) }
    }

    /// Stores a batch.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await DeliveryDeadline.during(grace: Self.grace) { await self.write(hits, $0) }
    }

    /// Deletes the subject's rows. PostgreSQL frees their space when it vacuums the tables.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        await self.erase(RowErasure(of: subject))
    }

    private func erase(_ erasure: RowErasure) async -> ErasurePiece {
        let piece = await DeliveryDeadline.during(grace: Self.grace) {
            await self.store.erase(erasure, $0)
        }
        if let result = piece.result { return .last(result) }
        return .followed { await self.erase(piece.erasure) }
    }

    private func write(_ hits: HitBatch, _ delivery: DeliveryDeadline) async -> SinkAnswer {
        let answer = await self.store.deliver(
            hits, confirmed: self.confirmed.withLock { $0 }, delivery)
        switch answer {
        case .delivered, .rejected:
            if !hits.isReplay { self.confirmed.withLock { $0 = hits.sequence } }
        case .dataLoss: self.confirmed.withLock { $0 = nil }
        case .unavailable, .progressed, .suspended, .unreadable: break
        }
        return answer
    }
}
#endif

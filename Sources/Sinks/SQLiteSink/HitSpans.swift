internal import GRDB

/// The rows that each partition has when a replay begins, by day of receipt. Laid end to end, the
/// ranges of their ids give each row a place, and the replay reads from place to place. So a page
/// reads the partitions that it takes rows from, however many there are: the view `hits` would
/// merge all of them for each row.
struct HitSpans: Sendable {
    /// The rows of a partition.
    struct Span: Sendable {
        /// The partition's id.
        let partition: Int64
        /// The newest day of receipt, since 1970.
        let day: Int64
        /// The ids of its first row and of its last.
        let ids: ClosedRange<Int64>
        /// The place before its first row.
        let start: Int64

        /// The place after its last row.
        var end: Int64 { self.place(after: self.ids.upperBound) }

        /// The place after a row.
        func place(after id: Int64) -> Int64 { self.start + (id - self.ids.lowerBound) + 1 }
    }

    private let all: [Span]

    /// - Throws: SQLite's error, or GRDB's for ids that no build has written.
    init(in database: Database) throws {
        var all: [Span] = []
        let partitions = try Row.fetchAll(
            database, sql: "SELECT id, day FROM partitions ORDER BY day, id")
        for row in partitions {
            let partition = try row.decode(Int64.self, forColumn: "id")
            // Two queries, since SQLite reads all rows for both at once.
            let ids = try ["min", "max"].map { bound in
                try Int64.fetchOne(database, sql: "SELECT \(bound)(id) FROM hits_\(partition)")
            }
            guard let first = ids[0], let last = ids[1] else { continue }
            guard 0 < first, last < Self.maxID else {
                throw DatabaseError(
                    message: "the table hits_\(partition) has the ids \(first) to \(last), outside "
                        + "1 to \(Self.maxID - 1): no build has written that")
            }
            all.append(
                Span(
                    partition: partition, day: try row.decode(Int64.self, forColumn: "day"),
                    ids: first...last, start: all.last?.end ?? 0))
        }
        self.all = all
    }

    /// Above every id: a server that stores a million hits a second reaches it after 570 years.
    /// The places of 500 partitions, more than a view joins, stay below 2^63.
    private static let maxID: Int64 = 1 << 54

    /// The first partition with rows behind a place, and the id behind which they are. Partitions
    /// whose newest day is before `day` are passed over.
    func next(after place: Int64, since day: Int64) -> (span: Span, id: Int64)? {
        guard let span = self.all.first(where: { place < $0.end && $0.day >= day }) else {
            return nil
        }
        return (span, span.ids.lowerBound - 1 + max(place - span.start, 0))
    }
}

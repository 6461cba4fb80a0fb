#if PostgreSQL
internal import SinkKit

/// An erasure of a subject's rows, a partition at a time. In between, batches are stored, and
/// partitions are created, attached, renamed and dropped, by other programs too.
struct RowErasure: Sendable {
    private let subject: Subject
    /// The partitions that need no further look.
    private var visited: Set<String> = []
    /// The partition that was listed and then not found.
    private var missing: String?
    /// The rows that were deleted.
    private(set) var erased = 0

    /// Begins an erasure.
    init(of subject: Subject) { self.subject = subject }

    /// Deletes the rows of the first partition that was not visited yet.
    ///
    /// - Returns: whether there was one.
    /// - Throws: `PostgreSQLError`.
    mutating func eraseNext(
        of partitions: [(id: String, name: String)], _ connection: PostgreSQLConnection
    ) throws -> Bool {
        let next = partitions.first { !self.visited.contains($0.id) }
        guard let next else { return false }
        let tenant = try connection.literal(self.subject.tenant)
        let ids = try self.subject.ids.map { try connection.literal($0) }.joined(separator: ", ")
        do {
            let rows = try connection.run(
                """
                WITH erased AS (
                    DELETE FROM \(next.name) WHERE tenant = \(tenant) AND subject_id IN (\(ids))
                    RETURNING 1)
                SELECT count(*) FROM erased
                """)
            self.erased += rows.first?.first?.flatMap { Int($0) } ?? 0
            self.visited.insert(next.id)
        } catch {
            guard error.state == Self.undefinedTable, self.missing != next.id else { throw error }
            // Dropped since it was listed, with its rows; one that was renamed comes once more.
            self.missing = next.id
        }
        return true
    }

    private static let undefinedTable = "42P01"
}
#endif

internal import GRDB

/// Reads a partition's pages before it is dropped, a share with each batch. SQLite visits every
/// page of a table that it drops: a million rows take 0.1 s once the system has them in memory, and
/// over a second from a disk, during which no batch could be written.
struct PartitionReadAhead {
    /// Rows that are read with a batch. More than a batch brings, so that partitions go faster than
    /// they come.
    static let defaultShareRows = 2 * 50_000

    private let shareRows: Int
    private var partition: Int64?
    /// The id of the last row that was read.
    private var through = Int64.min

    init(shareRows: Int = defaultShareRows) { self.shareRows = shareRows }

    /// Reads the next rows of a partition.
    ///
    /// - Returns: whether all of them have been read.
    /// - Throws: SQLite's error.
    mutating func read(_ partition: HitPartitions.Partition, in database: Database) throws -> Bool {
        if self.partition != partition.id { (self.partition, self.through) = (partition.id, .min) }
        let share = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*), max(id) FROM
                    (SELECT id FROM hits_\(partition.id) WHERE id > ? ORDER BY id LIMIT ?)
                """, arguments: [self.through, self.shareRows])
        guard let share, let last: Int64 = share[1] else { return true }
        self.through = last
        return share[0] < self.shareRows
    }
}

internal import GRDB

/// Reads a partition's pages before it is dropped, some with each batch. SQLite visits every page
/// of a table that it drops: a million rows take 0.1 s if the system has cached them, and over a
/// second from a disk, during which no batch could be written.
struct PartitionReadAhead {
    /// The rows read with a batch: more than a batch adds, so that partitions are dropped faster
    /// than they are filled.
    static let defaultShareRows = 2 * 50_000

    private let shareRows: Int
    private var partition: Int64?
    /// The id of the last row read.
    private var through = Int64.min

    init(shareRows: Int = defaultShareRows) { self.shareRows = shareRows }

    /// Reads the next rows of a partition.
    ///
    /// - Returns: whether all rows have been read.
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

package import GRDB
internal import Storage

/// Reads the ledger of a server that does not run.
package enum LedgerFile {
    /// The checkpoint's file, below the data directory.
    package static let path = "journal/checkpoint.db"
    /// The format of the file.
    package static let formatVersion = CheckpointStore.format.version

    /// The ledger as the last checkpoint saved it: after a crash without what came in the last
    /// `journal.checkpoint_milliseconds`, which the next start reads from the log.
    ///
    /// - Throws: SQLite's error.
    package static func ledger(in database: DatabaseQueue) throws -> Ledger {
        Ledger(pages: try database.read { try CheckpointStore.ledgerPages(in: $0) })
    }
}

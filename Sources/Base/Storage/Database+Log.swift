package import GRDB
internal import GRDBSQLite

extension Database {
    private static let chunkBytes = 1 << 16

    /// Writes a WAL database's log again and syncs it. If an earlier process ended at a failed
    /// sync, some frames may exist only in the page cache, and no later sync writes them. SQLite
    /// would take them for durable, and a power cut would lose them and everything after them.
    ///
    /// Takes the write lock, so call it outside of a transaction.
    ///
    /// - Throws: `DatabaseError`.
    package func rewriteLog() throws {
        try self.inTransaction(.immediate) {
            try self.rewriteLogFile()
            return .rollback
        }
    }

    private func rewriteLogFile() throws {
        var pointer: UnsafeMutablePointer<sqlite3_file>?
        try Self.check(
            sqlite3_file_control(
                self.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &pointer))
        guard let file = pointer, let methods = file.pointee.pMethods?.pointee else { return }
        var size: sqlite3_int64 = 0
        try Self.check(methods.xFileSize?(file, &size) ?? SQLITE_MISUSE)
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
        var offset: sqlite3_int64 = 0
        while offset < size {
            let count = CInt(min(size - offset, sqlite3_int64(chunk.count)))
            try Self.check(methods.xRead?(file, &chunk, count, offset) ?? SQLITE_MISUSE)
            try Self.check(methods.xWrite?(file, chunk, count, offset) ?? SQLITE_MISUSE)
            offset += sqlite3_int64(count)
        }
        if size > 0 { try Self.check(methods.xSync?(file, SQLITE_SYNC_NORMAL) ?? SQLITE_MISUSE) }
    }

    private static func check(_ code: CInt) throws {
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
    }
}

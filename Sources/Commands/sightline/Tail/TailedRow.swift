internal import Foundation
internal import GRDB
internal import TrackingReport

/// A row that `tail` prints. Its table is only appended to.
protocol TailedRow: Encodable, Sendable {
    /// The database's file name in the data directory.
    static var fileName: String { get }
    /// The newest format that this build supports.
    static var formatVersion: Int { get }
    /// The SELECT clause; the first column is `rowid AS id`.
    static var selection: String { get }
    static var columns: [(title: String, alignment: TextTable.Alignment)] { get }

    /// The row id, strictly increasing.
    var id: Int64 { get }
    var cells: [String] { get }

    init(_ row: Row) throws
}

extension TailedRow {
    /// The last rows, newest last.
    static func last(_ count: Int, in database: Database) throws -> [Self] {
        try Row.fetchAll(
            database, sql: "\(self.selection) ORDER BY rowid DESC LIMIT ?", arguments: [count]
        ).reversed().map(Self.init)
    }

    /// The rows after `id`, oldest first.
    static func rows(after id: Int64, limit: Int, in database: Database) throws -> [Self] {
        try Row.fetchAll(
            database, sql: "\(self.selection) WHERE rowid > ? ORDER BY rowid LIMIT ?",
            arguments: [id, limit]
        ).map(Self.init)
    }

    static func table(_ rows: [Self], heading: Bool) -> [String] {
        var table = TextTable(
            self.columns.map { (heading ? $0.title : "", $0.alignment) })
        for row in rows {
            table.add(row.cells)
        }
        return rows.isEmpty ? [] : table.lines()
    }
}

/// Times of the databases: microseconds since 1970.
enum RowTime {
    /// Local time for people.
    static func local(_ microseconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS"
        return formatter.string(
            from: Date(timeIntervalSince1970: Double(microseconds) / 1_000_000))
    }
}

extension [UInt8] {
    /// Two hex digits per byte.
    var hex: String {
        self.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}

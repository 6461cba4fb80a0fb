// The product of a hit stands in its event alone: a function of SQL reads it there.
internal import GRDB
internal import GRDBSQLite
internal import TrackingCore

/// `campaign_product(event)`: 0 for Campaign Standard, 1 for Classic.
///
/// Made with SQLite's own interface rather than the library's: it runs for every click, and reads
/// the event where SQLite holds it.
enum ProductFunction {
    static let name = "campaign_product"

    /// Adds the function to a connection; adding it again changes nothing.
    ///
    /// - Throws: what SQLite says where it cannot be added.
    static func add(to database: Database) throws {
        let result = sqlite3_create_function_v2(
            database.sqliteConnection, self.name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
            { context, _, values in
                sqlite3_result_int(context, CInt(ProductFunction.product(values?[0]).rawValue))
            }, nil, nil, nil)
        guard result == SQLITE_OK else {
            throw DatabaseError(
                resultCode: database.lastErrorCode, message: database.lastErrorMessage)
        }
    }

    /// Standard too where the bytes are no event: one row that was changed by hand must not keep a
    /// report from the others.
    private static func product(_ value: OpaquePointer?) -> Product {
        let event = Bytes(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
        guard let view = try? EventView(event), view.product == .classic else { return .standard }
        return .classic
    }
}

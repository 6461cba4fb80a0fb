internal import GRDB
internal import GRDBSQLite
internal import TrackingCore

/// The SQL function `campaign_product(event)`: 0 for Campaign Standard, 1 for Classic. hits.db has
/// the product in the event only.
///
/// It uses SQLite's own interface instead of GRDB's, because it runs for every click and can parse
/// the event in SQLite's memory.
enum ProductFunction {
    static let name = "campaign_product"

    /// Adds the function to a connection; idempotent.
    ///
    /// - Throws: SQLite's error.
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

    /// Unreadable bytes count as Standard: one row changed by hand must not fail the report.
    private static func product(_ value: OpaquePointer?) -> Product {
        let event = Bytes(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
        guard let view = try? EventView(event), view.product == .classic else { return .standard }
        return .classic
    }
}

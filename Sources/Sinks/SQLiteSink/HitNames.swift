internal import Foundation
internal import GRDB
internal import WireFormat

/// The numbers of the texts that repeat in hits: tenants, apps, deliveries, sets of warnings. A row
/// holds a number of 1 to 3 bytes instead of a text.
struct HitNames {
    /// The maximum number of texts in memory; others are looked up in the database.
    static let maxCached = 65_536

    static let schema = """
        CREATE TABLE names (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        """

    private let selection: Statement
    private let insertion: Statement
    /// The key is a hash with a seed per process. The text is compared too.
    private var cache: [Int: (text: [UInt8], number: Int64)] = [:]

    init(in database: Database) throws {
        // As blobs: GRDB binds a text only up to its first zero byte, and two ids may differ behind
        // it.
        self.selection = try database.makeStatement(
            sql: "SELECT id FROM names WHERE text = CAST(? AS TEXT)")
        self.insertion = try database.makeStatement(
            sql: "INSERT INTO names (text) VALUES (CAST(? AS TEXT)) RETURNING id")
    }

    /// The number of a text, which is added if it is new.
    ///
    /// - Throws: SQLite's error.
    mutating func number(of text: Bytes) throws -> Int64 {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        let hash = hasher.finalize()
        if let known = self.cache[hash], text.equals(known.text) { return known.number }
        let number = try self.stored(text)
        if self.cache.count >= Self.maxCached { self.cache.removeAll(keepingCapacity: true) }
        self.cache[hash] = (Array(text), number)
        return number
    }

    private func stored(_ text: Bytes) throws -> Int64 {
        let text = Data(text.text.utf8)
        if let number = try Int64.fetchOne(self.selection, arguments: [text]) { return number }
        guard let number = try Int64.fetchOne(self.insertion, arguments: [text]) else {
            throw DatabaseError(message: "a name got no number")
        }
        return number
    }
}

/// Caches the number of the previous text, since consecutive hits often share it.
struct LastName {
    private var text = Bytes(start: nil, count: 0)
    private var number: Int64 = 0

    /// The number of `text`, whose bytes must stay valid until `forget`.
    mutating func number(of text: Bytes, in names: inout HitNames) throws -> Int64 {
        if self.number > 0, self.text.equals(text) { return self.number }
        self.number = try names.number(of: text)
        self.text = text
        return self.number
    }

    /// Drops the text. Call it before its bytes become invalid.
    mutating func forget() { self = LastName() }
}

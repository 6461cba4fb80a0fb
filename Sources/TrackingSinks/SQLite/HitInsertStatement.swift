internal import GRDBSQLite
internal import TrackingCore

/// Inserts hits into hits.db through one prepared statement. Text and blobs are bound in place,
/// without copies.
struct HitInsertStatement {
    private let statement: OpaquePointer
    /// Caches the parsed event: an event's hits are adjacent.
    private var event: EventView?

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// Inserts a hit; returns SQLite's result code.
    ///
    /// - Throws: `WireError` if the event is malformed, which Admission excludes.
    mutating func run(_ hit: Hit) throws -> CInt {
        let event = try self.view(of: hit)
        return withUnsafeBytes(
            of: (hit.key.high.bigEndian, (hit.key.low | UInt64(hit.kind.rawValue)).bigEndian)
        ) { hitID in
            var warnings = hit.warnings.isEmpty ? "" : hit.warnings.names.joined(separator: ",")
            return warnings.withUTF8 { warnings in
                self.bind(hit, event, hitID: hitID, warnings: Bytes(warnings))
                let result = sqlite3_step(self.statement)
                sqlite3_reset(self.statement)
                return result
            }
        }
    }

    private mutating func view(of hit: Hit) throws -> EventView {
        if let event = self.event, event.bytes.baseAddress == hit.event.baseAddress {
            return event
        }
        let event = try EventView(hit.event)
        self.event = event
        return event
    }

    private func bind(_ hit: Hit, _ event: EventView, hitID: Bytes, warnings: Bytes) {
        self.bind(blob: hitID, at: 1)
        self.bind(literal: hit.kind.name, at: 2)
        sqlite3_bind_int64(self.statement, 3, Int64(hit.campaignAction))
        self.bind(text: event.deliveryID, at: 4)
        self.bind(text: event.broadlogID, at: 5)
        self.bind(textOrNull: event.appID, at: 6)
        switch event.effectivePlatform {
        case .android: self.bind(literal: "android", at: 7)
        case .ios: self.bind(literal: "ios", at: 7)
        case nil: sqlite3_bind_null(self.statement, 7)
        }
        self.bind(textOrNull: event.subjectID, at: 8)
        if let time = event.occurTime, !time.isZero, let microseconds = time.microseconds {
            sqlite3_bind_int64(self.statement, 9, microseconds)
        } else {
            sqlite3_bind_null(self.statement, 9)
        }
        sqlite3_bind_int64(self.statement, 10, hit.origin.receiveTime)
        self.bind(text: hit.origin.tenant, at: 11)
        self.bind(textOrNull: hit.origin.traceparent, at: 12)
        self.bind(textOrNull: hit.origin.tracestate, at: 13)
        self.bind(text: warnings, at: 14)
        self.bind(blob: hit.event, at: 15)
    }

    private func bind(textOrNull text: Bytes, at index: CInt) {
        if text.isEmpty {
            sqlite3_bind_null(self.statement, index)
        } else {
            self.bind(text: text, at: index)
        }
    }

    private func bind(text: Bytes, at index: CInt) {
        // SQLite treats a null pointer as NULL, so an empty text needs an address.
        guard let base = text.baseAddress, text.count > 0 else {
            self.bind(literal: "", at: index)
            return
        }
        sqlite3_bind_text(
            self.statement, index, base.assumingMemoryBound(to: CChar.self), CInt(text.count), nil)
    }

    private func bind(literal: StaticString, at index: CInt) {
        literal.withUTF8Buffer { text in
            _ = text.withMemoryRebound(to: CChar.self) { text in
                sqlite3_bind_text(
                    self.statement, index, text.baseAddress, CInt(text.count), nil)
            }
        }
    }

    private func bind(blob: Bytes, at index: CInt) {
        if blob.isEmpty {
            sqlite3_bind_zeroblob(self.statement, index, 0)
        } else {
            sqlite3_bind_blob64(
                self.statement, index, blob.baseAddress, UInt64(blob.count), nil)
        }
    }
}

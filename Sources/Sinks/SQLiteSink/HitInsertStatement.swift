internal import GRDB
internal import TrackingRules
internal import WireFormat

/// Inserts hits into a partition of hits.db.
struct HitInsertStatement {
    /// The numbers of a hit's repeated texts in `names`.
    struct Names {
        let delivery: Int64
        /// Nil if the hit has no app.
        let app: Int64?
        let tenant: Int64
        /// Nil if the hit has no warnings.
        let warnings: Int64?
    }

    private let statement: SQLiteStatement

    /// - Throws: SQLite's error.
    init(into partition: Int64, of database: Database) throws {
        self.statement = try SQLiteStatement(
            """
            INSERT INTO hits_\(partition) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, in: database)
    }

    /// Inserts a hit of an event with the row id `id`.
    ///
    /// - Throws: SQLite's error.
    func run(
        id: Int64, _ kind: HitKind, of event: JournalEvent, _ request: Hit.Request,
        trace: SharedColumn<PackedTrace>, bytes: SharedColumn<Bytes>, _ names: Names
    ) throws {
        let hitID = (event.key.high.bigEndian, (event.key.low | UInt64(kind.rawValue)).bigEndian)
        try withUnsafeBytes(of: hitID) { hitID in
            self.statement.bind(id, at: 1)
            self.statement.bind(blob: hitID, at: 2)
            self.statement.bind(Int64(kind.rawValue), at: 3)
            self.statement.bind(Int64(event.product.rawValue), at: 4)
            self.bind(event, names)
            self.statement.bind(request.receiveTime, at: 11)
            switch bytes {
            case .own(let bytes): self.statement.bind(blob: bytes, at: 16)
            case .backReference(let rows): self.statement.bind(rows, at: 16)
            }
            switch trace {
            case .own(let trace):
                self.statement.bind(textOrNull: request.tracestate, at: 14)
                try trace.withBytes { bytes in
                    if let bytes {
                        self.statement.bind(blob: bytes, at: 13)
                    } else {
                        self.statement.bind(textOrNull: request.traceparent, at: 13)
                    }
                    try self.statement.run()
                }
            case .backReference(let rows):
                self.statement.bind(rows, at: 13)
                self.statement.bindNull(at: 14)
                try self.statement.run()
            }
        }
    }

    private func bind(_ event: JournalEvent, _ names: Names) {
        self.statement.bind(names.delivery, at: 5)
        self.statement.bind(text: event.broadlogID, at: 6)
        self.statement.bind(names.app, at: 7)
        self.statement.bind((event.platform?.rawValue).map(Int64.init), at: 8)
        self.statement.bind(textOrNull: event.subjectID, at: 9)
        self.statement.bind(event.occurTime, at: 10)
        self.statement.bind(names.tenant, at: 12)
        self.statement.bind(names.warnings, at: 15)
    }
}

internal import GRDB
internal import Pacing
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// Writes batches into hits.db: rows, counts and the index of counted keys, all within the caller's
/// transaction. It caches numbers and filters of the database in memory. After a failed transaction
/// they may be wrong, so a new writer has to be created.
///
/// Its properties are never accessed again while one of them is being changed, so the checks of
/// that at run time are off: they take a twentieth of what a hit costs.
final class HitWriter {
    private let index: HitIndex
    @exclusivity(unchecked) private var partitions: HitPartitions
    @exclusivity(unchecked) private var names: HitNames
    @exclusivity(unchecked) private var counts: HitCounts
    @exclusivity(unchecked) private var folding: HitFolding
    @exclusivity(unchecked) private var lastTenant = LastName()
    @exclusivity(unchecked) private var lastApp = LastName()
    @exclusivity(unchecked) private var lastDelivery = LastName()
    /// The previous request, and its first row.
    @exclusivity(unchecked)
    private var lastRequest: (trace: Bytes, first: HitPartitions.NewRow)?
    @exclusivity(unchecked) private var pending: [PendingEvent] = []
    @exclusivity(unchecked) private var keys: [IndexKey] = []
    /// The day by which old rows are dropped.
    private var today = RetentionTime(earliest: 0, latest: 0)
    /// The day for the index, whose entries have the days on which they were added: a dead letter
    /// may be replayed months after its receipt.
    private var indexDay = RetentionTime(earliest: 0, latest: 0)
    /// The day by which counts are folded.
    private var foldingDay: Int64 = 0

    /// The number of events looked up together, so that the processor loads their memory in
    /// parallel.
    private static let chunkEvents = 1024

    /// - Throws: SQLite's error.
    init(in database: Database, _ configuration: SQLiteConfiguration) throws {
        try database.execute(sql: HitBounds.schema)
        self.index = try HitIndex(in: database, HitIndex.Limits(configuration))
        self.partitions = try HitPartitions(in: database)
        self.names = try HitNames(in: database)
        self.counts = try HitCounts(in: database)
        self.folding = try HitFolding(in: database)
        try HitViews.refresh(in: database, partitions: self.partitions.all)
    }

    /// Sets the day for the following calls, in days since 1970, by the server's clock.
    func setToday(_ day: Int, by retention: inout HitRetention) {
        let stored = RetentionClock.lastDay(of: self.partitions.all.lazy.map(\.day))
        self.today = retention.rows.time(Int64(day), stored: stored)
        // The index knows its newest day alone, which may be a clock's that was ahead; the rows'
        // days may be a clock's that was behind. So it deletes by the earlier time of both, and
        // stores under the later one.
        let time = retention.index.time(
            Int64(day), stored: self.index.today.map { Int64($0) })
        self.indexDay = RetentionTime(
            earliest: min(self.today.earliest, time.earliest),
            latest: max(self.today.latest, time.latest))
        let believed = retention.folding.time(Int64(day), stored: self.folding.today)
        self.foldingDay = min(self.today.earliest, believed.earliest)
    }

    /// Writes the hits of a batch, except those whose keys are in the index: they were counted
    /// before. Then folds some counts that are old enough: twice as many as the batch has added at
    /// least, so that old ones do not gather.
    ///
    /// - Throws: `DamagedPayload`, or SQLite's error.
    func write(_ hits: HitBatch, in database: Database) throws {
        try hits.payload.withUnsafeBytes { payload in
            try HitEncoding.forEachEvent(in: payload) { event, request in
                self.take(event, request)
                if self.pending.count == Self.chunkEvents { try self.writePending(in: database) }
            }
            try self.writePending(in: database)
        }
        try self.finish(in: database)
        try self.folding.fold(
            today: self.foldingDay, rows: Self.foldedRows + 2 * self.counts.takeWritten(),
            in: database)
    }

    /// The rows of counts that a batch folds besides: 10 ms, until all that are due are folded.
    private static let foldedRows = 1000

    /// Subtracts rows that were deleted from a table from its partition's number of rows.
    ///
    /// - Throws: SQLite's error.
    func uncount(_ rows: Int, of table: String, in database: Database) throws {
        try self.partitions.uncount(rows, of: table, in: database)
    }

    /// The oldest partition if it has to be dropped: it is too old, or the file is too large.
    ///
    /// - Throws: SQLite's error.
    func duePartition(
        _ configuration: SQLiteConfiguration, in database: Database
    ) throws -> HitPartitions.Partition? {
        guard let oldest = self.partitions.oldest else { return nil }
        let days = Int64(configuration.retainDays)
        if days > 0, self.today.isOver(oldest.day, keeping: days - 1) { return oldest }
        guard configuration.maxBytes > 0 else { return nil }
        return try HitsSize.bytes(of: database) > configuration.maxBytes ? oldest : nil
    }

    /// Drops the oldest partition if it has to be dropped.
    ///
    /// - Returns: the partition, if it was dropped.
    /// - Throws: SQLite's error.
    func dropOldest(
        _ configuration: SQLiteConfiguration, in database: Database
    ) throws -> HitPartitions.Partition? {
        guard try self.duePartition(configuration, in: database) != nil else { return nil }
        return try self.partitions.dropOldest(in: database)
    }

    // MARK: Looking up

    private func take(_ event: JournalEvent, _ request: Hit.Request) {
        var pending = PendingEvent(event: event, request: request, fact: self.add(key: event.key))
        if event.product == .firebase {
            if !event.subjectID.isEmpty {
                pending.recipient = self.add(key: event.recipientKey(tenant: request.tenant))
            }
        } else if !event.action.isEmpty {
            pending.notification = self.add(key: event.notificationKey(tenant: request.tenant))
        }
        self.pending.append(pending)
    }

    /// The index of a key among those of the next lookup.
    private func add(key: HitKey) -> Int {
        self.keys.append(self.index.key(key))
        return self.keys.count - 1
    }

    // MARK: Writing

    private func writePending(in database: Database) throws {
        guard !self.pending.isEmpty else { return }
        try self.index.begin(self.keys, on: self.indexDay, in: database)
        for event in self.pending { try self.write(event, in: database) }
        try self.index.finish(in: database)
        self.pending.removeAll(keepingCapacity: true)
        self.keys.removeAll(keepingCapacity: true)
    }

    private func write(_ pending: PendingEvent, in database: Database) throws {
        let event = pending.event
        let marks = HitMarks(event.kinds)
        let known = HitMarks(rawValue: self.index.add(marks.rawValue, at: pending.fact))
        let new = known.missing(in: event.kinds)
        guard !new.isEmpty else { return }
        let earlier = self.earlierKinds(pending, known, new)
        let isNewRecipient = self.isNewRecipient(pending)
        let names = try self.names(of: pending)
        let campaign = try self.campaign(of: pending)
        let time = pending.request.receiveTime
        let hour = self.folding.start(of: time.quotient(by: 3_600_000_000))
        // What devices report, and what senders do, count notifications of their own.
        var isFirst =
            isNewRecipient
            ?? (new.isDisjoint(with: .sends) ? earlier.isEmpty : known.isFirstAttempt(new))
        var first: HitPartitions.NewRow?
        var left = new.rawValue
        while left != 0 {
            let number = UInt8(truncatingIfNeeded: left.trailingZeroBitCount)
            left &= left &- 1
            guard let kind = HitKind(rawValue: number) else { continue }
            let row = try self.partitions.newRow(on: time.day, in: database)
            try row.insertion.run(
                id: row.id, kind, of: event, pending.request,
                trace: self.trace(of: pending.request, in: row),
                bytes: first?.distance(to: row).map { .backReference(rows: $0) }
                    ?? .own(event.bytes), names)
            first = first ?? row
            let group = HitCounts.Group(
                hour: hour, tenant: names.tenant, app: names.app ?? 0,
                delivery: names.delivery, product: event.product,
                platform: Int64(event.platform?.rawValue ?? 0),
                kind: HitCounts.kind(kind, event.warnings))
            try self.counts.add(
                group, isFirstOfKind: earlier.rawValue & 1 << UInt16(number) == 0,
                isFirst: isFirst, time: time, campaign: campaign, id: row.id)
            isFirst = false
        }
    }

    /// The kinds of hits that the event's notification had before, with any of its buttons or
    /// without.
    private func earlierKinds(
        _ pending: PendingEvent, _ known: HitMarks, _ new: HitKinds
    ) -> HitKinds {
        guard let notification = pending.notification else { return known.reported }
        let marks = HitMarks(ofButton: new)
        return HitMarks(rawValue: self.index.add(marks.rawValue, at: notification)).reported
    }

    /// Whether an in-app message's recipient had no hit before; nil for other events.
    private func isNewRecipient(_ pending: PendingEvent) -> Bool? {
        guard pending.event.product == .firebase else { return nil }
        guard let recipient = pending.recipient else { return false }
        return self.index.add(HitMarks.recipient.rawValue, at: recipient) == 0
    }

    private func names(of pending: PendingEvent) throws -> HitInsertStatement.Names {
        let event = pending.event
        let (app, warnings) = (event.appID, event.warnings)
        return HitInsertStatement.Names(
            delivery: try self.lastDelivery.number(of: event.deliveryID, in: &self.names),
            app: app.isEmpty ? nil : try self.lastApp.number(of: app, in: &self.names),
            tenant: try self.lastTenant.number(of: pending.request.tenant, in: &self.names),
            warnings: warnings.isEmpty
                ? nil
                : try warnings.names.joined(separator: ",").withBytes {
                    try self.names.number(of: $0)
                })
    }

    /// The number of an in-app message's campaign name; nil if it has none.
    private func campaign(of pending: PendingEvent) throws -> Int64? {
        let name = pending.event.campaignName
        return name.isEmpty ? nil : try self.names.number(of: name)
    }

    /// The trace columns of a row: the trace itself if it is the request's first row in its
    /// partition, otherwise the distance to that row.
    private func trace(
        of request: Hit.Request, in row: HitPartitions.NewRow
    ) -> SharedColumn<PackedTrace> {
        let trace = request.traceparent
        if let last = self.lastRequest, last.trace.baseAddress == trace.baseAddress,
            let distance = last.first.distance(to: row)
        {
            return .backReference(rows: distance)
        }
        self.lastRequest = (trace, row)
        return .own(PackedTrace(trace))
    }

    private func finish(in database: Database) throws {
        self.forgetTexts()
        try self.counts.finish()
        try self.partitions.finish(in: database)
    }
}

extension HitWriter {
    /// Drops cached texts that point into the memory of a finished batch.
    private func forgetTexts() {
        self.lastTenant.forget()
        self.lastApp.forget()
        self.lastDelivery.forget()
        self.lastRequest = nil
    }
}

extension HitIndex.Limits {
    fileprivate init(_ configuration: SQLiteConfiguration) {
        self.init(
            uniqueDays: configuration.uniqueDays, filterBytes: configuration.filterBytes)
    }
}

extension Int64 {
    /// The day of a time in microseconds, in days since 1970.
    var day: Int64 { self.quotient(by: 86_400_000_000) }
}

#if PostgreSQL
// Hits as rows of COPY's binary format: int16 fields, then each field's length and bytes.
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// The rows of one batch, in its order.
struct HitRows {
    /// A row, and the hit that it is made of.
    struct Row {
        /// The hit's position in the batch.
        let position: Int
        /// Where its bytes end; they begin where those of the row before end.
        let end: Int
        /// Who sent it; rows that follow each other share the bytes.
        let tenant: [UInt8]
    }

    /// What COPY begins with: signature, flags, and no extension.
    static let header =
        [UInt8]("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    /// What it ends with.
    static let trailer: [UInt8] = [0xff, 0xff]

    private let buffer = RowBuffer()
    /// How many days before its receipt an event may have been to stand in its own day.
    private let lateDays: Int
    private(set) var rows: [Row] = []
    /// The days of the rows.
    private(set) var days: Set<CalendarDay> = []
    private var lastDay: CalendarDay?

    init(lateDays: Int) { self.lateDays = lateDays }

    /// The bytes of some rows.
    func bytes(_ rows: Range<Int>) -> Bytes {
        let start = rows.lowerBound == 0 ? 0 : self.rows[rows.lowerBound - 1].end
        let end = rows.isEmpty ? start : self.rows[rows.upperBound - 1].end
        return Bytes(rebasing: self.buffer.bytes[start..<end])
    }

    /// The bytes of some rows, given by their numbers in order: a part for each run of them.
    func parts(_ numbers: ArraySlice<Int>) -> [Bytes] {
        var parts: [Bytes] = []
        var start = numbers.startIndex
        for index in numbers.indices {
            let next = index + 1
            if next < numbers.endIndex, numbers[next] == numbers[index] + 1 { continue }
            parts.append(self.bytes(numbers[start]..<(numbers[index] + 1)))
            start = next
        }
        return parts
    }

    /// Makes the rows of a batch's groups after `sequence`.
    ///
    /// - Throws: `DamagedPayload`.
    mutating func encode(_ hits: HitBatch, after sequence: Int64) throws {
        self.buffer.clear()
        self.rows.removeAll(keepingCapacity: true)
        (self.days, self.lastDay) = ([], nil)
        var tenant: [UInt8] = []
        try hits.forEach(after: sequence) { position, hit in
            self.append(hit)
            if !hit.request.tenant.equals(tenant) { tenant = [UInt8](hit.request.tenant) }
            self.rows.append(Row(position: position, end: self.buffer.count, tenant: tenant))
        }
    }

    /// Bytes of a row beside its texts, its event and its warnings, at most.
    private static let fixedBytes = 256

    /// Appends a row with the columns of `PostgreSQLSchema.columns`.
    private mutating func append(_ hit: Hit) {
        let (event, occurTime) = (hit.entry, hit.occurTime)
        let warnings = hit.warnings.isEmpty ? "" : hit.warnings.names.joined(separator: ",")
        let texts =
            event.deliveryID.count + event.broadlogID.count + event.appID.count
            + event.subjectID.count + hit.request.tenant.count + hit.request.traceparent.count
            + hit.request.tracestate.count
        self.buffer.reserve(
            Self.fixedBytes + 3 * texts + warnings.utf8.count + hit.event.count)
        self.buffer.put(Int16(PostgreSQLSchema.columns.count))
        self.buffer.field(self.day(occurTime, hit.request.receiveTime))
        hit.key.withHitID(hit.kind) { self.buffer.field($0) }
        self.buffer.field(Int16(hit.kind.rawValue))
        self.buffer.field(Int16(hit.product.rawValue))
        if let platform = event.platform {
            self.buffer.field(Int16(truncatingIfNeeded: platform.rawValue))
        } else {
            self.buffer.null()
        }
        self.buffer.text(event.deliveryID)
        self.buffer.text(event.broadlogID)
        self.buffer.textOrNull(event.appID)
        self.buffer.textOrNull(event.subjectID)
        if let occurTime {
            self.buffer.field(occurTime &- Self.epochMicroseconds)
        } else {
            self.buffer.null()
        }
        self.buffer.field(hit.request.receiveTime &- Self.epochMicroseconds)
        self.buffer.text(hit.request.tenant)
        self.buffer.textOrNull(hit.request.traceparent)
        self.buffer.textOrNull(hit.request.tracestate)
        warnings.withBytes { self.buffer.field($0) }
        self.buffer.field(hit.event)
    }

    /// From 1970 to 2000, which PostgreSQL counts from.
    private static let epochDays = 10_957
    private static let epochMicroseconds = Int64(Self.epochDays) * 86_400_000_000

    /// The day whose partition gets a hit, as PostgreSQL counts: the event's own, so that a fact
    /// that is reported again stands where it stood; the day of receipt where the client's clock
    /// cannot be right. Both are in the journal, so a hit that is delivered again has the same.
    private mutating func day(_ occurTime: Int64?, _ receiveTime: Int64) -> Int32 {
        let received = CalendarDay(microseconds: receiveTime)
        var day = received
        if let occurTime {
            let occurred = CalendarDay(microseconds: occurTime)
            let allowed = (received.number - self.lateDays)...(received.number + 1)
            if allowed.contains(occurred.number) { day = occurred }
        }
        if day != self.lastDay {
            self.lastDay = day
            self.days.insert(day)
        }
        return Int32(truncatingIfNeeded: day.number - Self.epochDays)
    }
}
#endif

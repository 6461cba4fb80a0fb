// The ledger: how many events of each delivery counted, and why the others did not. A value of the
// journal's writer. Its contents depend only on the deltas and their order, so that a restart
// restores them; but for rows that are too old, which go once the retention clock says so.
internal import Pacing
internal import TrackingRules
internal import WireFormat

/// Counts of events by tenant, app, delivery, platform, hour and outcome. Bounded: beyond
/// `maxRows`, events are counted in the tenant's row `other`.
package struct Ledger: Sendable {
    private let maxRows: Int
    let retainHours: UInt32
    private var rows: [Row] = []
    private var places: [LedgerKey: UInt32] = [:]
    /// The newest row of each tenant's delivery; the rows before it are linked.
    private var newest: [Delivery: UInt32] = [:]
    /// The values of an unknown flag that a delivery has rows for. Searching its rows for them
    /// would cost more with each row.
    private var flagValues: [Delivery: Set<LedgerText>] = [:]
    /// The apps' versions that a delivery has rows for, for the same reason.
    private var versions: [Delivery: Set<LedgerText>] = [:]
    /// The rows that each tenant has added in the current hour.
    private var added: [LedgerText: Int] = [:]
    /// The hour of the last expiry; nil before the first one.
    private var hour: UInt32?
    private var retention: RetentionClock
    private var pages = LedgerPages()

    struct Row: Sendable {
        let key: LedgerKey
        var count: UInt64
        /// The index of the previous row of the same delivery.
        var previous: UInt32?
    }

    /// The rows of a tenant's delivery, newest first.
    struct DeliveryRows: Sequence, IteratorProtocol {
        private let rows: [Row]
        private var index: UInt32?

        fileprivate init(_ rows: [Row], from newest: UInt32?) {
            self.rows = rows
            self.index = newest
        }

        mutating func next() -> Row? {
            guard let index else { return nil }
            let row = self.rows[Int(index)]
            self.index = row.previous
            return row
        }
    }

    private struct Delivery: Hashable {
        let tenant: LedgerText
        let delivery: LedgerText

        init(_ tenant: ArraySlice<UInt8>, _ delivery: ArraySlice<UInt8>) {
            self.tenant = LedgerText(tenant)
            self.delivery = LedgerText(delivery)
        }
    }

    /// The values of an unknown flag that a delivery has rows for.
    package static let maxFlagValues = 8
    /// The versions of an app that a delivery keeps rows for when an hour begins: the busiest.
    /// Until the next hour as many new ones may come, so that a version of which the first event
    /// comes late gets its rows too.
    package static let maxVersions = 20
    /// The detail of a row that counts further values, and the version of one that counts further
    /// versions.
    package static let otherValue = "other"
    private static let otherDetail = Array(Self.otherValue.utf8)[...]
    /// The rows among which the delivery before one is searched.
    package static let maxRowsBefore = 20_000
    /// Rows beyond `maxRows` that only `other` may take.
    private static let otherRows = 1024
    /// The hours that are not joined to days.
    private static let keptHours: UInt32 = 48

    /// Creates a ledger from the saved pages of an earlier one.
    ///
    /// - Parameters:
    ///   - pages: the pages, in the order of their numbers. The rows of a damaged page are lost.
    ///   - uptime: the retention clock's, which cannot be set; the journal has its machine's.
    package init(
        _ configuration: LedgerConfiguration = LedgerConfiguration(), pages: [[UInt8]] = [],
        uptime: @escaping @Sendable () -> Duration = { RetentionClock.uptime }
    ) {
        self.retention = RetentionClock(.hours, uptime: uptime)
        self.maxRows = configuration.maxRows
        self.retainHours = UInt32(clamping: configuration.retainDays * 24)
        let rows = pages.map { $0.withUnsafeBytes(LedgerPages.rows(of:)) }
        for (key, count) in rows.compactMap({ $0 }).joined() where self.places[key] == nil {
            self.append(key, count)
        }
        self.pages = LedgerPages()
        // The rows behind a damaged page have moved.
        if rows.contains(where: { $0 == nil }) { self.pages.changeAll(rows: self.rows.count) }
    }

    /// The number of rows.
    package var rowCount: Int { self.rows.count }

    // MARK: Reading

    /// All rows.
    package var all: [LedgerRow] { self.rows.map { LedgerRow($0.key, count: $0.count) } }

    /// All rows, not decoded.
    var allCounts: some Sequence<LedgerCount> {
        self.rows.lazy.map { LedgerCount(key: $0.key, count: $0.count) }
    }

    /// All rows, not decoded, those that came last first.
    var newestCounts: some Sequence<LedgerCount> {
        self.rows.lazy.reversed().map { LedgerCount(key: $0.key, count: $0.count) }
    }

    /// The rows of a tenant's delivery, newest first; those without a delivery where it is empty,
    /// and among them the tenant's `other`.
    ///
    /// - Parameter limit: the maximum number of rows.
    package func rows(tenant: String, delivery: String, limit: Int = .max) -> [LedgerRow] {
        self.counts(tenant: tenant, delivery: delivery, limit: limit).map(\.row)
    }

    /// The same rows, not decoded: a tenth of the work.
    package func counts(tenant: String, delivery: String, limit: Int) -> [LedgerCount] {
        let key = Delivery(
            Self.cut(tenant, to: LedgerKey.textBytes),
            Self.cut(delivery, to: LedgerSubject.nameBytes))
        return DeliveryRows(self.rows, from: self.newest[key]).prefix(limit).map {
            LedgerCount(key: $0.key, count: $0.count)
        }
    }

    /// The rows of the delivery that was sent before one, newest first: of the tenant's last other
    /// one, in the app in which this one was sent first, that had an attempt to send before this
    /// one's first. Empty if none of the `maxRowsBefore` rows before that has one.
    ///
    /// - Parameter limit: the maximum number of rows, of this delivery and of that one.
    package func countsBefore(
        delivery: String, tenant: String, limit: Int
    ) -> [LedgerCount] {
        let own = Delivery(
            Self.cut(tenant, to: LedgerKey.textBytes),
            Self.cut(delivery, to: LedgerSubject.nameBytes))
        guard let first = self.firstAttempt(of: own, among: limit) else { return [] }
        let key = self.rows[first].key
        let near = self.rows[max(0, first - Self.maxRowsBefore)..<first]
        let attempt = near.last { row in
            row.key.outcome.isSendAttempt && !row.key.delivery.isEmpty && row.key.app == key.app
                && row.key.tenant == key.tenant && row.key.delivery != key.delivery
        }
        guard let last = attempt?.key else { return [] }
        let before = Delivery(last.tenant, last.delivery)
        return DeliveryRows(self.rows, from: self.newest[before]).prefix(limit).map {
            LedgerCount(key: $0.key, count: $0.count)
        }
    }

    /// The index of the oldest row of attempts to send among a delivery's newest rows.
    private func firstAttempt(of delivery: Delivery, among limit: Int) -> Int? {
        var first: Int?
        var next = self.newest[delivery]
        for _ in 0..<limit {
            guard let index = next else { break }
            let row = self.rows[Int(index)]
            if row.key.outcome.isSendAttempt { first = Int(index) }
            next = row.previous
        }
        return first
    }

    /// The rows of one delivery after the other, in no order; those without a delivery are left
    /// out.
    var rowsByDelivery: some Sequence<DeliveryRows> {
        self.newest.lazy.filter { !$0.key.delivery.isEmpty }
            .map { DeliveryRows(self.rows, from: $0.value) }
    }

    /// The first bytes of a text, as a key keeps them: no character is split.
    package static func cut(_ text: String, to count: Int) -> ArraySlice<UInt8> {
        text.withBytes { Array($0.cut(to: count))[...] }
    }

    // MARK: Counting

    /// Adds a group's counts.
    package mutating func apply(_ delta: LedgerDelta) {
        for entry in delta.entries { self.add(entry.key, UInt64(entry.count)) }
    }

    private mutating func add(_ key: LedgerKey, _ count: UInt64) {
        if let place = self.places[key] {
            self.add(count, at: Int(place))
            return
        }
        self.beginHour(key.hour)
        if key.outcome == .version { return self.addVersion(key, count) }
        guard key.outcome == .refused(.suppressedFlagUnknown) else {
            return self.insert(key, count)
        }
        let other = key.with(detail: Self.otherValue)
        if let place = self.places[other] { return self.add(count, at: Int(place)) }
        self.insert(self.hasManyValues(key) ? other : key, count)
    }

    private mutating func addVersion(_ key: LedgerKey, _ count: UInt64) {
        let row = self.hasManyVersions(key) ? key.with(version: Self.otherValue) : key
        // The hour that has just begun may have made the row.
        if let place = self.places[row] { return self.add(count, at: Int(place)) }
        self.insert(row, count)
    }

    private mutating func add(_ count: UInt64, at place: Int) {
        self.rows[place].count = self.rows[place].count.addingReportingOverflow(count).partialValue
        self.pages.change(place)
    }

    /// Gives a key a row if one is free. A tenant may add half of the free rows: whatever it sends,
    /// others still get some.
    private mutating func insert(_ key: LedgerKey, _ count: UInt64) {
        let free = self.maxRows - self.rows.count
        if free > 0, self.added[LedgerText(key.tenant), default: 0] < max(1, free) {
            self.append(key, count)
        } else {
            self.addToOther(key, count)
        }
    }

    private mutating func addToOther(_ key: LedgerKey, _ count: UInt64) {
        let own = key.tenant.withUnsafeBytes { LedgerKey.other(tenant: $0, outcome: key.outcome) }
        if let place = self.places[own] { return self.add(count, at: Int(place)) }
        if self.rows.count < self.maxRows + Self.otherRows { return self.append(own, count) }
        // Beyond any real number of tenants: the last ones share one row.
        let shared = LedgerKey.other(tenant: .init(start: nil, count: 0), outcome: key.outcome)
        if let place = self.places[shared] { return self.add(count, at: Int(place)) }
        self.append(shared, count)
    }

    private mutating func append(_ key: LedgerKey, _ count: UInt64) {
        let index = UInt32(truncatingIfNeeded: self.rows.count)
        let delivery = Delivery(key.tenant, key.delivery)
        self.rows.append(Row(key: key, count: count, previous: self.newest[delivery]))
        self.newest[delivery] = index
        self.places[key] = index
        if key.outcome == .refused(.suppressedFlagUnknown), key.detail != Self.otherDetail {
            self.flagValues[delivery, default: []].insert(LedgerText(key.detail))
        }
        if key.outcome == .version, !key.isOther, key.version != Self.otherDetail {
            self.versions[delivery, default: []].insert(LedgerText(key.version))
        }
        if key.hour == self.hour { self.added[LedgerText(key.tenant), default: 0] += 1 }
        self.pages.change(Int(index))
    }

    /// Whether the key's delivery already has the maximum number of rows for values of its flag.
    private func hasManyValues(_ key: LedgerKey) -> Bool {
        guard let values = self.flagValues[Delivery(key.tenant, key.delivery)],
            values.count >= Self.maxFlagValues
        else { return false }
        return !values.contains(LedgerText(key.detail))
    }

    /// Whether the key's delivery already has the maximum number of versions with rows.
    private func hasManyVersions(_ key: LedgerKey) -> Bool {
        guard let versions = self.versions[Delivery(key.tenant, key.delivery)],
            versions.count >= 2 * Self.maxVersions
        else { return false }
        return !versions.contains(LedgerText(key.version))
    }

    // MARK: Expiry

    /// Expires old rows once an hour, and makes the table half empty: rows of hours are joined to
    /// rows of days, and then the oldest rows of the tenants that have the most become `other`.
    private mutating func beginHour(_ hour: UInt32) {
        // A clock that was set back starts a new hour; late requests of the last hour do not.
        if let current = self.hour, hour <= current, current - hour <= 2 { return }
        // After a restart the hour may be one that had begun before.
        let isBegun = hour == (self.hour ?? self.newestHour)
        self.hour = hour
        let (stored, span) = (self.lastHour, Int64(self.retainHours))
        let time = self.retention.time(Int64(hour), stored: stored)
        var kept = self.rows.filter {
            $0.key.isOther || !time.isOver(Int64($0.key.hour), keeping: span)
        }
        var isChanged = kept.count != self.rows.count
        if !isBegun, self.foldVersions(of: &kept) { isChanged = true }
        if kept.count > self.maxRows / 2 {
            for index in kept.indices {
                let key = kept[index].key
                let day = key.hour / 24 * 24
                guard !key.isOther, key.hour != day, key.hour < hour,
                    hour - key.hour > Self.keptHours
                else { continue }
                kept[index] = Row(key: key.moved(to: day), count: kept[index].count)
                isChanged = true
            }
        }
        if isChanged { self.rebuild(kept) }
        if self.rows.count > self.maxRows / 2 { self.foldOldest() }
        self.added = [:]
        for row in self.rows where row.key.hour == hour && !row.key.isOther {
            self.added[LedgerText(row.key.tenant), default: 0] += 1
        }
    }

    /// The last hour of all rows; nil without rows.
    private var newestHour: UInt32? {
        self.rows.lazy.filter { !$0.key.isOther }.map(\.key.hour).max()
    }

    /// Turns the versions of each delivery that are not among its busiest into `other`. Whether any
    /// did.
    private func foldVersions(of rows: inout [Row]) -> Bool {
        let crowded = self.versions.filter { $0.value.count > Self.maxVersions }
        if crowded.isEmpty { return false }
        var counts: [Delivery: [LedgerText: UInt64]] = [:]
        for row in rows where row.key.outcome == .version && !row.key.isOther {
            let delivery = Delivery(row.key.tenant, row.key.delivery)
            guard crowded[delivery] != nil, row.key.version != Self.otherDetail else { continue }
            counts[delivery, default: [:]][LedgerText(row.key.version), default: 0] &+= row.count
        }
        let busiest = counts.mapValues { versions in
            Set(
                versions.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                    .prefix(Self.maxVersions).map(\.key))
        }
        for index in rows.indices {
            let key = rows[index].key
            guard key.outcome == .version, !key.isOther,
                let kept = busiest[Delivery(key.tenant, key.delivery)],
                !kept.contains(LedgerText(key.version))
            else { continue }
            rows[index] = Row(key: key.with(version: Self.otherValue), count: rows[index].count)
        }
        return true
    }

    /// The last hour of the rows by which a clock that jumped is recognized.
    private var lastHour: Int64? {
        guard self.retention.isNew else { return nil }
        let days = self.rows.lazy.filter { !$0.key.isOther }.map { Int64($0.key.hour / 24) }
        return RetentionClock.lastDay(of: days).map { $0 * 24 + 23 }
    }

    /// Turns the oldest rows of the largest tenants into `other`.
    private mutating func foldOldest() {
        var counts: [LedgerText: Int] = [:]
        var byAge: [(hour: UInt32, index: UInt32)] = []
        for (index, row) in self.rows.enumerated() where !row.key.isOther {
            counts[LedgerText(row.key.tenant), default: 0] += 1
            byAge.append((row.key.hour, UInt32(truncatingIfNeeded: index)))
        }
        byAge.sort { $0 < $1 }
        let share = Self.share(of: self.maxRows / 2, among: Array(counts.values))
        var isFolded = [Bool](repeating: false, count: self.rows.count)
        for (_, index) in byAge {
            let tenant = LedgerText(self.rows[Int(index)].key.tenant)
            guard let count = counts[tenant], count > share else { continue }
            counts[tenant] = count - 1
            isFolded[Int(index)] = true
        }
        let all = self.rows
        self.rebuild(zip(all, isFolded).lazy.filter { !$0.1 }.map(\.0))
        for (row, isFolded) in zip(all, isFolded) where isFolded {
            self.addToOther(row.key, row.count)
        }
    }

    /// The largest number of rows that each may keep so that together they have at most `total`.
    static func share(of total: Int, among counts: [Int]) -> Int {
        var (left, sharers) = (total, counts.count)
        for count in counts.sorted() {
            if count * sharers > left { return left / sharers }
            left -= count
            sharers -= 1
        }
        return .max
    }

    /// Replaces all rows by these, and joins those with the same key.
    private mutating func rebuild(_ rows: some Sequence<Row>) {
        let capacity = self.rows.count
        self.rows = []
        self.places = [:]
        self.newest = [:]
        self.flagValues = [:]
        self.versions = [:]
        self.places.reserveCapacity(capacity)
        for row in rows {
            if let place = self.places[row.key] {
                self.rows[Int(place)].count &+= row.count
            } else {
                self.append(row.key, row.count)
            }
        }
        self.pages.changeAll(rows: self.rows.count)
    }
}

// MARK: Checkpoints

extension Ledger {
    /// Takes the pages that have changed since they were taken last.
    package mutating func takePages() -> LedgerPages.Saved {
        self.pages.take(rows: self.rows)
    }

    /// Whether a page has changed.
    package var isChanged: Bool { self.pages.isChanged }

    /// Takes back pages that a checkpoint could not write.
    package mutating func putBack(_ saved: LedgerPages.Saved) { self.pages.putBack(saved) }
}

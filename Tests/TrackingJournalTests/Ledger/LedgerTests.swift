// The ledger's table: what it counts, and what holds at its limits.
internal import Synchronization
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct LedgerTests {
    private static let hour: UInt32 = 500_000

    private static func ledger(maxRows: Int, retainDays: Int = 90) -> Ledger {
        var configuration = LedgerConfiguration()
        configuration.maxRows = maxRows
        configuration.retainDays = retainDays
        return Ledger(configuration)
    }

    private func key(
        _ delivery: String, tenant: String = "a", hour: UInt32 = Self.hour,
        outcome: LedgerOutcome = .accepted(HitKinds(.impression)), detail: String = ""
    ) -> LedgerKey {
        tenant.withBytes { tenant in
            delivery.withBytes { delivery in
                "com.example.app".withBytes { app in
                    LedgerKey(
                        hour: hour, tenant: tenant,
                        subject: LedgerSubject(
                            platform: .android, product: .standard, app: app, delivery: delivery
                        ).bytes, outcome: outcome, detail: detail)
                }
            }
        }
    }

    @Test("a ledger without settings keeps 100,000 rows, for 90 days")
    func defaults() {
        let configuration = LedgerConfiguration()
        #expect(configuration.maxRows == 100_000)
        #expect(configuration.retainDays == 90)
    }

    @Test("a row's key is read back as it was made")
    func keys() throws {
        let key = self.key(
            "56c4", tenant: "shop", outcome: .refused(.suppressedFlagUnknown), detail: "ON")
        let stored = try #require(key.bytes.withUnsafeBytes { LedgerKey(stored: $0) })
        let row = LedgerRow(stored, count: 3)
        #expect(
            row
                == LedgerRow(
                    tenant: "shop", app: "com.example.app", delivery: "56c4", platform: .android,
                    product: .standard, hour: Self.hour,
                    outcome: .refused(.suppressedFlagUnknown), detail: "ON", count: 3))
    }

    @Test("bytes that are no key are refused, wherever they end")
    func noKey() {
        let key = self.key("56c4")
        for count in 0..<key.bytes.count {
            let isKey = key.bytes[..<count].withUnsafeBytes { LedgerKey(stored: $0) != nil }
            #expect(!isKey, "\(count) bytes")
        }
    }

    @Test("a name of 64 bytes is kept, and one of 65 is cut")
    func names() {
        let longest = String(repeating: "n", count: 64)
        for name in [longest, longest + "n"] {
            let row = LedgerRow(self.key(name, tenant: name, detail: name), count: 1)
            #expect([row.delivery, row.tenant, row.detail] == [longest, longest, longest])
        }
        let key = self.key(longest, tenant: longest, detail: longest)
        #expect(key.bytes.count + 64 - "com.example.app".utf8.count == LedgerKey.maxBytes)
    }

    @Test("a delta is read back from a record as it was, in order")
    func deltas() throws {
        var delta = LedgerDelta()
        for (number, count) in [(3, 2), (1, 5), (2, 1)] {
            delta.add(self.key("d\(number)"), UInt32(count))
        }
        let bytes = delta.encoded()
        let read = bytes[4...].withUnsafeBytes { LedgerDelta(encoded: $0) }
        #expect(read.entries.map(\.key) == delta.entries.map(\.key))
        #expect(read.entries.map(\.count) == [2, 5, 1])
        #expect(LedgerDelta().encoded() == [])
    }

    @Test("`other` gets what comes beyond the rows: at the limit none, one beyond it one")
    func maxRows() {
        // A tenant may add half of what is free: 64 of 128 rows.
        for (deliveries, other) in [(64, 0), (65, 1), (1000, 936)] {
            var ledger = Self.ledger(maxRows: 128)
            for number in 0..<deliveries { ledger.add(self.key("d\(number)")) }
            #expect(ledger.count(isOther: true) == UInt64(other), "\(deliveries) deliveries")
            #expect(ledger.count(isOther: false) == UInt64(deliveries - other))
            #expect(ledger.rowCount == min(deliveries, 64) + (other > 0 ? 1 : 0))
        }
    }

    @Test("a tenant that floods the ledger leaves rows to the others, again and again")
    func fairness() {
        var ledger = Self.ledger(maxRows: 128)
        for (tenant, rows) in [("a", 64), ("b", 31), ("c", 16), ("d", 8)] {
            for number in 0..<500 { ledger.add(self.key("d\(number)", tenant: tenant)) }
            let own = ledger.all.filter { $0.tenant == tenant && !$0.isOther }
            #expect(own.count >= rows - 2, "tenant \(tenant) has \(own.count)")
        }
        #expect(ledger.all.reduce(0) { $0 + $1.count } == 2000)
    }

    @Test("a new hour makes room: days in place of hours, then the oldest rows become `other`")
    func tidying() {
        var ledger = Self.ledger(maxRows: 128)
        let first = Self.hour / 24 * 24
        for hour in first..<first + 30 {
            for delivery in ["56c4", "56c5"] { ledger.add(self.key(delivery, hour: hour)) }
        }
        for number in 0..<10 { ledger.add(self.key("e\(number)", hour: first + 29)) }
        #expect(ledger.rowCount == 70)
        // More than half: what is older than two days is joined by day.
        ledger.add(self.key("56c6", hour: first + 100))
        #expect(Set(ledger.all.map(\.hour)) == [first, first + 24, first + 100])
        #expect(ledger.rows(tenant: "a", delivery: "56c4").map(\.count) == [6, 24])
        #expect(ledger.rowCount == 2 * 2 + 10 + 1)
        #expect(ledger.count(isOther: true) == 0)
        // Of 50 more in one hour, the oldest rows give way at the next.
        for number in 0..<50 { ledger.add(self.key("d\(number)", hour: first + 101)) }
        ledger.add(self.key("56c7", hour: first + 102))
        #expect(ledger.rowCount <= 128 / 2 + 2)
        #expect(ledger.rows(tenant: "a", delivery: "56c4").count < 2)
        #expect(ledger.rows(tenant: "a", delivery: "d49").count == 1)
        #expect(ledger.all.reduce(0) { $0 + $1.count } == 122)
    }

    @Test("ledger.retain_days: a row is there at its last hour, and gone one later")
    func retention() {
        for (hours, rows) in [(24, 1), (25, 0)] {
            var ledger = Self.ledger(maxRows: 128, retainDays: 1)
            ledger.add(self.key("56c4"))
            ledger.add(self.key("56c5", hour: Self.hour + UInt32(hours)))
            #expect(ledger.rows(tenant: "a", delivery: "56c4").count == rows, "\(hours) hours")
        }
    }

    @Test(
        "a clock that is 91 days ahead deletes no row before it has been so for an hour",
        arguments: [(minutes: 60, rows: 1), (minutes: 61, rows: 0)], [false, true])
    func wrongClock(_ last: (minutes: Int, rows: Int), isRestarted: Bool) {
        let uptime = Mutex(Duration.zero)
        var ledger = Ledger(uptime: { uptime.withLock { $0 } })
        ledger.add(self.key("56c4"))
        if isRestarted {
            let pages = ledger.takePages().pages.map(\.bytes)
            ledger = Ledger(pages: pages, uptime: { uptime.withLock { $0 } })
        }
        let wrong = Self.hour + 91 * 24
        for (number, minutes) in [1, last.minutes].enumerated() {
            #expect(ledger.rows(tenant: "a", delivery: "56c4").count == 1)
            uptime.withLock { $0 = .seconds(minutes * 60) }
            ledger.add(self.key("d\(number)", hour: wrong + UInt32(number)))
        }
        #expect(ledger.rows(tenant: "a", delivery: "56c4").count == last.rows)
        // Set right, it leaves what came meanwhile.
        uptime.withLock { $0 = .seconds(7200) }
        ledger.add(self.key("56c5", hour: Self.hour + 5))
        #expect(ledger.rowCount == last.rows + 3)
    }

    @Test("a delivery has rows for 8 values of its flag, and the ninth is counted as other")
    func flags() {
        var ledger = Self.ledger(maxRows: 1000)
        for _ in 0..<2 {
            for number in 0..<20 {
                ledger.add(
                    self.key(
                        "56c4", outcome: .refused(.suppressedFlagUnknown), detail: "v\(number)"))
            }
        }
        let rows = ledger.rows(tenant: "a", delivery: "56c4")
        #expect(rows.count == 9)
        #expect(rows.filter { $0.detail != "other" }.allSatisfy { $0.count == 2 })
        #expect(rows.filter { $0.detail == "other" }.map(\.count) == [24])
    }

    @Test("the rows that each may keep add up to the total, and no small one is cut")
    func shares() {
        #expect(Ledger.share(of: 10, among: [1, 2, 3]) == .max)
        #expect(Ledger.share(of: 10, among: [1, 20, 3]) == 6)
        #expect(Ledger.share(of: 10, among: [50, 20, 30]) == 3)
        #expect(Ledger.share(of: 10, among: []) == .max)
    }

    @Test("a restart finds the pages as they were, and an unwritten page is written later")
    func pages() {
        var ledger = Self.ledger(maxRows: 1000)
        for number in 0..<100 { ledger.add(self.key("d\(number)")) }
        var stored: [Int: [UInt8]] = [:]
        func save(_ saved: LedgerPages.Saved) {
            for page in saved.pages { stored[page.number] = page.bytes }
            stored = stored.filter { $0.key < saved.count }
        }
        let refused = ledger.takePages()
        #expect(refused.pages.count == 4)
        #expect(!ledger.isChanged)
        ledger.putBack(refused)
        save(ledger.takePages())
        ledger.add(self.key("d50"))
        let changed = ledger.takePages()
        #expect(changed.pages.map(\.number) == [1])
        save(changed)
        let pages = stored.sorted { $0.key < $1.key }.map(\.value)
        var restored = Ledger(pages: pages)
        #expect(restored.all == ledger.all)
        #expect(!restored.isChanged)
        // A flipped bit costs that page's rows, and no other's.
        var damaged = pages
        damaged[2][40] ^= 1
        restored = Ledger(pages: damaged)
        #expect(restored.rowCount == 100 - 32)
        #expect(restored.isChanged)
    }

    @Test("a page that was put back, and is there no more, is not written")
    func lostPages() {
        var ledger = Self.ledger(maxRows: 1000, retainDays: 1)
        for number in 0..<100 { ledger.add(self.key("d\(number)")) }
        let refused = ledger.takePages()
        // While the checkpoint fails, a new hour drops all rows but one.
        ledger.add(self.key("56c4", hour: Self.hour + 48))
        ledger.putBack(refused)
        let saved = ledger.takePages()
        #expect(saved.pages.map(\.number) == [0])
        #expect(saved.isShorter && saved.count == 1)
    }

    @Test("the longest row takes no more bytes of a page than docs/security.md says")
    func pageBytes() {
        var ledger = Self.ledger(maxRows: 1000)
        let name = String(repeating: "n", count: 64)
        let subject = name.withBytes {
            LedgerSubject(platform: .ios, product: .firebase, app: $0, delivery: $0).bytes
        }
        let key = name.withBytes {
            LedgerKey(
                hour: Self.hour, tenant: $0, subject: subject, outcome: .refused(.rejected),
                detail: name)
        }
        ledger.add(key)
        #expect(ledger.takePages().pages.map(\.bytes.count) == [4 + 10 + LedgerKey.maxBytes])
        #expect(LedgerKey.maxBytes == 265)
    }
}

extension Ledger {
    fileprivate mutating func add(_ key: LedgerKey) {
        var delta = LedgerDelta()
        delta.add(key, 1)
        self.apply(delta)
    }

    fileprivate func count(isOther: Bool) -> UInt64 {
        self.all.filter { $0.isOther == isOther }.reduce(0) { $0 + $1.count }
    }
}

// Totals of deliveries: what a put replaces, what bounds it, and when it goes.
internal import Pacing
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct DeliveryTotalsFileTests {
    private static let day: Int64 = 86_400_000_000
    /// 2027-01-15T08:00:00Z.
    private static let now: Int64 = 1_800_000_000_000_000

    private static func file(
        in directory: String, maxRows: Int = 100, retainDays: Int = 400
    ) throws -> DeliveryTotalsFile {
        var configuration = DeliveryTotalsConfiguration()
        (configuration.maxRows, configuration.retainDays) = (maxRows, retainDays)
        // Without a doubt in clocks that jump, as tests' do.
        return try DeliveryTotalsFile(
            directory: directory, configuration,
            retention: RetentionClock(.microseconds, settling: .zero), logger: nil)
    }

    private static func named(_ ids: String...) -> [DeliveryTotals] {
        ids.map { DeliveryTotals(delivery: $0) }
    }

    private static let whole: DeliveryTotals = {
        var totals = DeliveryTotals(tenant: "a", delivery: "56c4")
        totals.name = "Spring sale"
        totals.product = .classic
        totals.sentTime = 1_790_000_000_000_001
        totals.platforms = [
            .init(platform: nil, sent: DeliveryTotals.maxCount),
            .init(platform: .android, sent: 5, delivered: 4, failed: 1),
            .init(platform: .ios, delivered: 0),
        ]
        return totals
    }()

    @Test("what was put is there whole, also for the next process, and sums are of what is known")
    func stored() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory)
            #expect(try await file.put([Self.whole], of: "a", now: Self.now) == [])
            for opened in [file, try Self.file(in: directory)] {
                #expect(try await opened.totals(of: "56c4", tenant: nil) == [Self.whole])
                #expect(try await opened.totals(of: "56c4", tenant: "a") == [Self.whole])
                #expect(try await opened.totals(of: "56c4", tenant: "b") == [])
                #expect(try await opened.totals(of: "56C4", tenant: nil) == [])
            }
        }
        #expect(Self.whole.sent == DeliveryTotals.maxCount + 5)
        #expect(Self.whole.delivered == 4 && Self.whole.failed == 1)
        #expect(DeliveryTotals(delivery: "x").delivered == nil)
    }

    @Test("the totals of several deliveries are those of each tenant, by id")
    func several() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory)
            for tenant in ["a", "b"] {
                let put = Self.named("1", "2", "3") + [Self.whole]
                #expect(try await file.put(put, of: tenant, now: Self.now) == [])
            }
            let found = try await file.totals(ofAny: ["56c4", "2", "unknown"])
            #expect(found.map { $0.tenant + $0.delivery } == ["a2", "b2", "a56c4", "b56c4"])
            #expect(found.map(\.platforms.count) == [0, 0, 3, 3])
            #expect(try await file.totals(ofAny: []) == [])
            let many = (0..<Ledger.maxCompared).map { "\($0)" }
            #expect(try await file.totals(ofAny: many).count == 6)
        }
    }

    @Test("the totals that were put last come first, as many as are asked for")
    func recent() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory)
            #expect(try await file.put(Self.named("9", "8"), of: "a", now: Self.now) == [])
            #expect(try await file.put([Self.whole], of: "b", now: Self.now + 1) == [])
            #expect(try await file.put(Self.named("1"), of: "a", now: Self.now + 2) == [])
            // Put again, it is the newest.
            #expect(try await file.put(Self.named("8"), of: "a", now: Self.now + 3) == [])
            let all = ["8", "1", "56c4", "9"]
            for limit in 0...5 {
                let found = try await file.recentTotals(limit: limit)
                #expect(found.map(\.delivery) == Array(all.prefix(limit)))
                let whole = found.filter { $0.delivery == "56c4" }
                #expect(whole.allSatisfy { $0.platforms.count == 3 })
            }
        }
    }

    @Test("the newest put of a delivery replaces the one before wholly, and no other tenant's")
    func replaced() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory)
            for tenant in ["a", "b"] {
                #expect(try await file.put([Self.whole], of: tenant, now: Self.now) == [])
            }
            var newer = DeliveryTotals(tenant: "a", delivery: "56c4")
            newer.platforms = [.init(platform: .ios, failed: 7)]
            #expect(try await file.put([newer], of: "a", now: Self.now) == [])
            #expect(try await file.totals(of: "56c4", tenant: "a") == [newer])
            var other = Self.whole
            other.tenant = "b"
            #expect(try await file.totals(of: "56c4", tenant: nil) == [newer, other])
        }
    }

    @Test("ids and tenants are bytes: two that look alike, or are alike up to a zero byte, are two")
    func texts() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory)
            let ids = ["caf\u{e9}", "cafe\u{301}", "a", "a\0b"]
            for id in ids {
                var totals = DeliveryTotals(delivery: id)
                totals.name = "\(id)!"
                #expect(try await file.put([totals], of: "a", now: Self.now) == [])
            }
            for id in ids {
                let found = try await file.totals(of: id, tenant: "a")
                #expect(found.count == 1)
                #expect(found.first?.delivery.equals(id) == true)
                #expect(found.first?.name?.equals("\(id)!") == true)
            }
        }
    }

    @Test(
        "deliveries.max_rows deliveries are kept, also by the next process, and one beyond is not")
    func limit() async throws {
        try await TestDirectory.with { directory in
            let first = try Self.file(in: directory, maxRows: 3)
            #expect(try await first.put(Self.named("1", "2"), of: "a", now: Self.now) == [])
            let file = try Self.file(in: directory, maxRows: 3)
            #expect(file.rowCount == 0)
            try await file.countRows()
            #expect(file.rowCount == 2)
            // What is there already takes no more room, before the limit and at it.
            let batch = Self.named("1", "3", "4", "2", "5")
            #expect(try await file.put(batch, of: "a", now: Self.now) == [2, 4])
            #expect(file.rowCount == 3)
            for (id, count) in [("1", 1), ("2", 1), ("3", 1), ("4", 0), ("5", 0)] {
                #expect(try await file.totals(of: id, tenant: "a").count == count, "\(id)")
            }
        }
    }

    @Test("a tenant that uses up deliveries.max_rows leaves others their share")
    func shares() async throws {
        try await TestDirectory.with { directory in
            var stored: [String: Int] = [:]
            for tenants in [["loud"], ["loud", "quiet"], ["loud", "quiet", "late"]] {
                // Also after a restart: the file knows whose they are.
                let file = try Self.file(in: directory, maxRows: 6)
                for tenant in tenants {
                    let batch = Self.named("0", "1", "2", "3", "4", "5", "6")
                    let unstored = try await file.put(batch, of: tenant, now: Self.now)
                    stored[tenant] = batch.count - unstored.count
                    #expect(file.rowCount == stored.values.reduce(0, +))
                }
            }
            #expect(stored == ["loud": 6, "quiet": 3, "late": 2])
        }
    }

    @Test("deliveries go once they were put retain_days ago, and leave their room")
    func retention() async throws {
        try await TestDirectory.with { directory in
            let file = try Self.file(in: directory, maxRows: 2, retainDays: 10)
            for (day, id) in [(0, "old"), (1, "again"), (2, "again")] as [(Int64, String)] {
                let time = Self.now + day * Self.day
                #expect(try await file.put([Self.totals(id)], of: "a", now: time) == [])
            }
            func count(_ id: String) async throws -> Int {
                try await file.totals(of: id, tenant: "a").flatMap(\.platforms).count
            }
            // At the limit both are there, and a third finds no room.
            let last = Self.now + 10 * Self.day
            #expect(try await file.put(Self.named("new"), of: "a", now: last) == [0])
            #expect(try await count("old") == 1)
            #expect(try await file.put(Self.named("new"), of: "a", now: last + 1) == [])
            #expect(file.rowCount == 2)
            #expect(try await file.totals(of: "old", tenant: nil) == [])
            #expect(try await count("again") == 1)
        }
    }

    @Test("a clock that is wrong for a while deletes nothing")
    func wrongClock() async throws {
        try await TestDirectory.with { directory in
            for time in [Self.now, Self.now + 3650 * Self.day, Self.now] {
                // Each process trusts the last day that is stored, and doubts what is far from it.
                let file = try DeliveryTotalsFile(
                    directory: directory, DeliveryTotalsConfiguration(), logger: nil)
                #expect(try await file.put(Self.named("\(time)"), of: "a", now: time) == [])
                #expect(try await file.totals(of: "\(Self.now)", tenant: "a").count == 1)
            }
        }
    }

    private static func totals(_ id: String) -> DeliveryTotals {
        var totals = DeliveryTotals(delivery: id)
        totals.platforms = [.init(sent: 1)]
        return totals
    }
}

// The ledger's rows by version, and of sends by reason and display: what they count, and what they
// leave as it is.
internal import CMalloc
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct LedgerVersionTests {
    private static let hour: UInt32 = 500_000

    private static func key(
        _ outcome: LedgerOutcome, detail: String = "", delivery: String, tenant: String = "a",
        app: String = "com.example.app", hour: UInt32 = Self.hour
    ) -> LedgerKey {
        let subject = app.withBytes { app in
            delivery.withBytes {
                LedgerSubject(platform: .android, product: .standard, app: app, delivery: $0)
            }
        }
        return tenant.withBytes {
            LedgerKey(
                hour: hour, tenant: $0, subject: subject.bytes, outcome: outcome, detail: detail)
        }
    }

    /// A key of impressions of a version.
    private static func key(
        version: String, delivery: String = "56c4", hour: UInt32 = Self.hour
    ) -> LedgerKey {
        let counted = LedgerOutcome.accepted(HitKinds(.impression)).rawValue
        return Self.key(
            .version, detail: String(decoding: [counted], as: UTF8.self) + version,
            delivery: delivery, hour: hour)
    }

    /// The rows that a request adds, as lines: what is counted, by what, and how often.
    private static func lines(_ events: [TestEvent]) -> [String] {
        var delta = LedgerDelta()
        delta.add(AdmittedRequest.of(events))
        return delta.entries.map { entry in
            let row = LedgerRow(entry.key, count: UInt64(entry.count))
            let again = row.counted.map { " of \($0.rawValue)" } ?? ""
            let reason = row.mark.reason.map { " \($0.name)" } ?? ""
            let display = row.mark.display.map { " \($0.name)" } ?? ""
            return "\(row.outcome.rawValue)\(again) \(row.appVersion)\(reason)\(display)"
                + " \(row.count)"
        }
    }

    @Test("D65: an event without a version has the key that it had in earlier builds")
    func sameKeys() {
        var delta = LedgerDelta()
        delta.add(AdmittedRequest.of([.fcm(.received), .fcm(.received) { $0.appVersion = "1" }]))
        // Accepted impressions of com.example.app, Android, Campaign Standard, in 56c4.
        let hour = UInt32(TestEvent.now / 3_600_000_000)
        var bytes = withUnsafeBytes(of: hour.littleEndian) { [UInt8]($0) }
        let parts: [([UInt8], String)] = [
            ([7], "default"), ([1, 15], "com.example.app"), ([4], "56c4"), ([1], ""),
        ]
        for (numbers, text) in parts { bytes += numbers + Array(text.utf8) }
        #expect(delta.entries.first?.key.bytes == bytes)
        #expect(delta.entries.map(\.count) == [2, 1], "and one by its version")
    }

    @Test("D65: each event of a version counts once more, by its verdict and hits")
    func versions() {
        let off = TestEvent.fcm(.opened) {
            $0.push.fcm.data.acsDeliveryTracking = "off"
            $0.appVersion = "2.0"
        }
        let optedOut = TestEvent.fcm(.opened) {
            $0.consent = .optedOut
            $0.appVersion = "2.0"
        }
        let opened = TestEvent.fcm(.opened) { $0.appVersion = "2.0" }
        #expect(
            Self.lines([off, optedOut, opened, .fcm(.received)]) == [
                "49  1", "55 of 49 2.0 1", "51  1", "11  1", "55 of 11 2.0 1", "1  1",
            ])
    }

    @Test("a send counts once more by who shows it, and one that was not made by its reason")
    func sends() {
        func send(
            _ id: Int, _ outcome: Sightline_V1_PushSendOutcome,
            _ reason: Sightline_V1_PushSendReason = .unspecified,
            _ display: Sightline_V1_PushDisplay = .unspecified
        ) -> TestEvent {
            .send(outcome, reason) {
                $0.pushSend.broadlogID = "h\(id)"
                $0.pushSend.display = display
            }
        }
        #expect(Self.lines([send(1, .sent)]) == ["12  1"])
        #expect(
            Self.lines([
                send(1, .sent, .unspecified, .app), send(2, .failed, .throttled, .app),
                send(3, .skipped, .noConsent), send(4, .sent, .unspecified, .app),
            ]) == [
                "12  2", "56 of 12  app 2", "13  1", "56 of 13  throttled 1", "14  1",
                "56 of 14  no_consent 1",
            ])
        // A sender's mistake is none of the version on the device.
        var broken = send(1, .failed)
        broken.appVersion = "2.0"
        #expect(Self.lines([broken]) == ["54  1"])
    }

    @Test("the version is told apart from a delivery whose name ends with it")
    func ambiguity() {
        let names = [("56", "c4"), ("56c", "4"), ("56c4", "")]
        let events = names.map { delivery, version in
            TestEvent.fcm(.received) {
                $0.push.fcm.data.deliveryID = delivery
                $0.appVersion = version
            }
        }
        var delta = LedgerDelta()
        delta.add(AdmittedRequest.of(events))
        let rows = delta.entries.map { LedgerRow($0.key, count: 1) }
        #expect(rows.map(\.delivery) == ["56", "56", "56c", "56c", "56c4"])
        #expect(rows.map(\.appVersion) == ["", "c4", "", "4", ""])
    }

    @Test("a delivery has rows for 40 versions within an hour, and the next is `other`")
    func bound() {
        for (versions, other) in [(39, 0), (40, 0), (41, 1), (60, 20)] {
            var ledger = Ledger()
            for number in 0..<versions { ledger.add(Self.key(version: "v\(number)")) }
            ledger.add(Self.key(version: "v0"))
            ledger.add(Self.key(version: "w", delivery: "56c5"))
            let rows = ledger.rows(tenant: "a", delivery: "56c4")
            let others = rows.filter { $0.appVersion == Ledger.otherValue }
            #expect(others.reduce(0) { $0 + $1.count } == UInt64(other), "\(versions) versions")
            #expect(rows.reduce(0) { $0 + $1.count } == UInt64(versions + 1))
            #expect(rows.count == min(versions, 2 * Ledger.maxVersions) + (other > 0 ? 1 : 0))
            #expect(ledger.rows(tenant: "a", delivery: "56c5").map(\.appVersion) == ["w"])
        }
    }

    @Test("the 20 busiest versions stay when an hour begins, and a new one gets rows again")
    func busiest() {
        var ledger = Ledger()
        for number in 0..<50 {
            // The later a version comes, the busier it is; the last ten have no rows yet.
            for _ in 0...number { ledger.add(Self.key(version: "v\(number)")) }
        }
        ledger.add(Self.key(version: "new", hour: Self.hour + 1))
        let rows = ledger.rows(tenant: "a", delivery: "56c4")
        let named = Set(rows.map(\.appVersion)).subtracting([Ledger.otherValue, "new"])
        #expect(named == Set((20..<40).map { "v\($0)" }))
        #expect(rows.reduce(0) { $0 + $1.count } == 50 * 51 / 2 + 1)
        #expect(rows.filter { $0.appVersion == "new" }.map(\.count) == [1])
        // What was `other` has rows from now on.
        ledger.add(Self.key(version: "v49", hour: Self.hour + 1))
        #expect(ledger.rows(tenant: "a", delivery: "56c4").contains { $0.appVersion == "v49" })
        // A restart goes on alike.
        var restored = Ledger(pages: ledger.takePages().pages.map(\.bytes))
        for number in 0..<50 {
            let key = Self.key(version: "x\(number)", hour: Self.hour + 1)
            ledger.add(key)
            restored.add(key)
        }
        #expect(restored.all.map { "\($0)" }.sorted() == ledger.all.map { "\($0)" }.sorted())
    }

    @Test("the delivery before one is the last that its app was sent before it")
    func before() {
        func send(
            _ delivery: String, app: String = "com.example.app", _ kind: HitKind = .sent
        ) -> LedgerKey {
            Self.key(.accepted(HitKinds(kind)), delivery: delivery, app: app)
        }
        var ledger = Ledger()
        for key in [
            send("1"), send("2"), send("3", app: "b"), send("4", .open), send("5"),
            send("1", .sendFailed), send("6"),
        ] { ledger.add(key) }
        let found = ["1", "2", "3", "4", "5", "6", "7"].map {
            ledger.countsBefore(delivery: $0, tenant: "a", limit: 9).map(\.row.delivery)
        }
        #expect(found == [[], ["1", "1"], [], [], ["2"], ["1", "1"], []])
        #expect(ledger.countsBefore(delivery: "2", tenant: "b", limit: 9).isEmpty)
    }

    @Test("100,000 rows with the longest names and versions take no more than docs/why.md says")
    func memory() async {
        await #expect(processExitsWith: .success) {
            let before = LedgerVersionTests.allocatedBytes()
            let ledger = LedgerVersionTests.longest()
            let used = LedgerVersionTests.allocatedBytes() - before
            withExtendedLifetime(ledger) {
                precondition(ledger.rowCount >= 99_900, "\(ledger.rowCount) rows")
                precondition(used <= 128 << 20, "\(used) bytes")
            }
        }
    }

    /// A full table: of each delivery a row, and one by a version of its own.
    private static func longest() -> Ledger {
        var ledger = Ledger()
        for tenant in 0..<20 {
            let tenant = String(repeating: "t", count: 62) + "\(10 + tenant)"
            let app = String(repeating: "a", count: 64)
            let rule = String(repeating: "f", count: 64)
            // A tenant gets half of what is free.
            for number in 0..<max(0, (100_000 - ledger.rowCount) / 4) {
                let delivery = String(repeating: "d", count: 58) + "\(100_000 + number)"
                let version = String(repeating: "v", count: 27) + "\(100_000 + number)"
                let rows: [(LedgerOutcome, String)] = [
                    (.refused(.rejected), rule), (.version, version),
                ]
                for (outcome, detail) in rows {
                    ledger.add(
                        Self.key(
                            outcome, detail: detail, delivery: delivery, tenant: tenant, app: app))
                }
            }
        }
        return ledger
    }

    private static func allocatedBytes() -> Int {
        let heap = mallinfo2()
        return Int(heap.uordblks) + Int(heap.hblkhd)
    }
}

extension Ledger {
    fileprivate mutating func add(_ key: LedgerKey) {
        var delta = LedgerDelta()
        delta.add(key, 1)
        self.apply(delta)
    }
}

// The ledger in the journal: as durable as the hits, and exact after a crash.
internal import DeliveryDiagnosis
internal import GRDB
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JournalLedgerTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// A TrackAction of Android with a flag.
    private static func flagged(
        _ flag: String, id: Int, delivery: String = "56c4"
    ) -> TestEvent {
        var event = TestEvents.action(.impression, id: id, delivery: delivery)
        event.platform = .android
        event.trackAction.acsDeliveryTracking = flag
        return event
    }

    /// A request of an impression, a duplicate of it, two unknown flags and bytes that are no
    /// event.
    private func request(_ id: Int) -> AdmittedRequest {
        AdmittedRequest.of(
            [
                TestEvents.impression(id), TestEvents.impression(id), Self.flagged("ON", id: id),
                Self.flagged("1", id: id),
            ], broken: [0xff])
    }

    /// The ledger's rows as lines, in order.
    private static func lines(_ ledger: Ledger) -> [String] {
        ledger.all.map { row in
            let outcome = row.outcome.meaning.map { "\($0)" } ?? ""
            return "\(row.delivery) \(outcome.split(separator: "(")[0]) \(row.detail) \(row.count)"
        }.sorted()
    }

    private static func expected(_ count: Int) -> [String] {
        [
            " refused event malformed \(count)", "56c4 accepted  \(count)",
            "56c4 duplicate  \(count)", "56c4 refused 1 \(count)", "56c4 refused ON \(count)",
        ]
    }

    @Test("a delta that counts group after group has what its requests add alone")
    func deltas() {
        var delta = LedgerDelta()
        for deliveries in [[3], [1, 2], [0, 3, 1], [2]] {
            delta.removeAll()
            var (together, apart) = (Ledger(), Ledger())
            for (place, count) in deliveries.enumerated() {
                let events = (0..<count).flatMap { number in
                    ["on", "1"].map {
                        Self.flagged($0, id: 0x100 + place, delivery: "d\(number)")
                    }
                }
                let request = AdmittedRequest.of(events + events)
                delta.add(request)
                var own = LedgerDelta()
                own.add(request)
                apart.apply(own)
            }
            together.apply(delta)
            #expect(Self.lines(together) == Self.lines(apart))
            #expect(Self.lines(together).count == 2 * (deliveries.max() ?? 0))
        }
    }

    @Test("D57: `why` names a placeholder that makes all recipients one, and blames no resumes")
    func placeholders() async throws {
        let journal = try Journal.open(self.directory)
        let events = (0..<40).map { number in
            var event = TestEvents.push("undefined", .opened)
            event.eventID = "e\(number)"
            event.push.product = .classic
            return event
        }
        await journal.commit(AdmittedRequest.of(events))
        let findings = await journal.account(of: "56c4", tenant: "default").findings
        #expect(findings.map(\.code) == [.placeholderIDs, .clicksWithoutImpressions])
        let sentence = try #require(findings.first).sentence
        #expect(sentence.hasPrefix("40 of 40 on Android: _mId is a placeholder"), "\(sentence)")
        await journal.close()
    }

    @Test("a commit's counts are in the ledger, and a restart finds them in checkpoint and log")
    func restart() async throws {
        for checkpoint in [1, 60_000] {
            let folder = "journal-\(checkpoint)"
            var journal = try Journal.open(self.directory, folder: folder) {
                $0.checkpointMilliseconds = checkpoint
            }
            for id in 0..<20 { await journal.commit(self.request(0x100 + id)) }
            #expect(Self.lines(await journal.ledger()) == Self.expected(20))
            #expect(journal.ledgerRowCount == 5)
            let copy = try self.directory.copyAfterCrash(of: folder)
            await journal.close()
            for left in [folder, copy] {
                journal = try Journal.open(self.directory, folder: left)
                #expect(Self.lines(await journal.ledger()) == Self.expected(20), "\(left)")
                await journal.commit(self.request(0x200))
                #expect(Self.lines(await journal.ledger()) == Self.expected(21), "\(left)")
                await journal.close()
            }
        }
    }

    @Test("events that give no hits are durable before their ack, as a record without hits")
    func refusedAlone() async throws {
        var journal = try Journal.open(self.directory) { $0.checkpointMilliseconds = 60_000 }
        await journal.commit(AdmittedRequest.of([Self.flagged("ON", id: 1)]))
        #expect(journal.lastSequence == 0, "no sink is told of it")
        let copy = try self.directory.copyAfterCrash(of: "journal")
        await journal.close()
        journal = try Journal.open(self.directory, folder: copy)
        #expect(Self.lines(await journal.ledger()) == ["56c4 refused ON 1"])
        await journal.close()
    }

    @Test("journal.max_bytes: records without hits fill a journal that keeps hits, and no other")
    func fullOfRefused() async throws {
        let journal = try Journal.open(self.directory) { $0.maxBytes = 2000 }
        func refuse(_ count: Int) async -> Int {
            var refused = 0
            for id in 0..<count {
                let request = AdmittedRequest.of([Self.flagged("ON", id: id)])
                refused += await journal.commit(request).isToRetry ? 1 : 0
                // Whether it counts is not known, so its client sends it again.
                #expect(request.tally.retryLater == (request.isToRetry ? 1 : 0))
            }
            return refused
        }
        #expect(await refuse(100) == 0)
        #expect(journal.storedBytes == 0)
        await journal.commit(AdmittedRequest.impressions([0x100]))
        let refused = await refuse(100)
        #expect((1..<100).contains(refused))
        #expect(Self.lines(await journal.ledger()).contains("56c4 refused ON \(200 - refused)"))
        journal.advance(sink: "a", to: journal.lastSequence)
        await journal.settle()
        #expect(journal.storedBytes == 0)
        #expect(await refuse(1) == 0)
        await journal.close()
    }

    @Test("a refused group adds nothing to the ledger, and is counted once it is sent again")
    func refusedGroup() async throws {
        let journal = try Journal.open(self.directory) { $0.maxBytes = 1 }
        #expect(await journal.commit(self.request(0x100)).isToRetry)
        #expect(Self.lines(await journal.ledger()) == [])
        await journal.close()
    }

    @Test("journal.mode off: the ledger is in memory")
    func diskless() async throws {
        let journal = try Journal.open(self.directory) { $0.mode = .off }
        journal.append([self.request(0x100)], for: RecordingReceiver())
        #expect(Self.lines(await journal.ledger()) == Self.expected(1))
        await journal.close()
    }

    @Test("an account is read between commits, and from the files of a stopped server")
    func accounts() async throws {
        let journal = try Journal.open(self.directory)
        for id in 0..<3 { await journal.commit(self.request(0x100 + id)) }
        let account = await journal.account(of: "56c4", tenant: "default")
        #expect(
            account.findings.map(\.code)
                == [.flagUnknown, .flagUnknown, .rejectedWithoutDelivery])
        #expect(await journal.account(of: "56c4", tenant: "other").rows == [])
        await journal.close()
        let database = try DatabaseQueue(
            path: self.directory.path + "/" + LedgerFile.path)
        #expect(Self.lines(try LedgerFile.ledger(in: database)) == Self.expected(3))
    }
}

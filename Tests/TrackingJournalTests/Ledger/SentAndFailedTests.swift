// A notification that was sent and of which an attempt failed: the ledger counts it once, whenever
// the two are told.
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct SentAndFailedTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// The rows of 56c4 by platform and outcome, as `android 12 1`.
    private static func lines(_ ledger: Ledger) -> [String] {
        let counts = ledger.rows(tenant: "default", delivery: "56c4").reduce(
            into: [String: UInt64]()
        ) { counts, row in
            // Warnings, and what counts events by version or reason, are told elsewhere.
            if row.counted != nil { return }
            if case .warning = row.outcome.meaning { return }
            counts["\(row.platform?.name ?? "-") \(row.outcome.rawValue)", default: 0] += row.count
        }
        return counts.map { "\($0) \($1)" }.sorted()
    }

    private static func sends(
        _ outcomes: [Sightline_V1_PushSendOutcome], id: Int = 1,
        on platform: Sightline_V1_Platform = .android
    ) -> [TestEvent] {
        outcomes.map { TestEvents.send($0, id: id, on: platform) }
    }

    @Test(
        "D60: in either order, in one request, and however often each is told, it counts once",
        arguments: [
            ([.failed, .sent], ["android 12 1", "android 13 1", "android 57 1"]),
            ([.sent, .failed], ["android 12 1", "android 13 1", "android 57 1"]),
            (
                [.failed, .failed, .sent, .sent, .failed],
                ["android 12 1", "android 13 1", "android 28 1", "android 29 2", "android 57 1"]
            ),
            ([.sent, .sent], ["android 12 1", "android 28 1"]),
            ([.failed, .failed], ["android 13 1", "android 29 1"]),
            ([.skipped, .sent], ["android 12 1", "android 14 1"]),
            ([.failed, .skipped], ["android 13 1", "android 14 1"]),
        ] as [([Sightline_V1_PushSendOutcome], [String])])
    func orders(_ outcomes: [Sightline_V1_PushSendOutcome], _ lines: [String]) async throws {
        for isTogether in [true, false] {
            let journal = try Journal.open(self.directory, folder: "\(isTogether)")
            let events = Self.sends(outcomes)
            if isTogether {
                await journal.commit(AdmittedRequest.of(events))
            } else {
                for event in events { await journal.commit(event) }
            }
            #expect(Self.lines(await journal.ledger()) == lines, "\(isTogether)")
            await journal.close()
        }
    }

    @Test("two requests of one group that tell the two of one notification count it once")
    func group() async throws {
        let journal = try Journal.open(self.directory)
        await journal.appendTogether(
            [[Sightline_V1_PushSendOutcome.failed], [.sent], [.failed]].map {
                AdmittedRequest.of(Self.sends($0))
            }, for: RecordingReceiver())
        #expect(
            Self.lines(await journal.ledger())
                == ["android 12 1", "android 13 1", "android 29 1", "android 57 1"])
        await journal.close()
    }

    @Test("it counts where the later of the two is told, and what devices report is none of it")
    func place() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(AdmittedRequest.of(Self.sends([.failed], on: .unspecified)))
        await journal.commit(AdmittedRequest.of(Self.sends([.sent], on: .ios)))
        await journal.commit(TestEvents.push(.opened, id: 1, on: .ios))
        await journal.commit(AdmittedRequest.of(Self.sends([.failed], id: 2, on: .ios)))
        let lines = Self.lines(await journal.ledger())
        #expect(lines == ["- 13 1", "ios 11 1", "ios 12 1", "ios 13 1", "ios 57 1"])
        await journal.close()
    }

    @Test("a restart finds the count in checkpoint and log, and what was known before it")
    func restart() async throws {
        for checkpoint in [1, 60_000] {
            let folder = "journal-\(checkpoint)"
            var journal = try Journal.open(self.directory, folder: folder) {
                $0.checkpointMilliseconds = checkpoint
            }
            await journal.commit(AdmittedRequest.of(Self.sends([.failed, .sent])))
            await journal.commit(AdmittedRequest.of(Self.sends([.failed], id: 2)))
            let copy = try self.directory.copyAfterCrash(of: folder)
            await journal.close()
            for left in [folder, copy] {
                journal = try Journal.open(self.directory, folder: left)
                await journal.commit(AdmittedRequest.of(Self.sends([.sent], id: 2)))
                await journal.commit(AdmittedRequest.of(Self.sends([.sent], id: 1)))
                #expect(
                    Self.lines(await journal.ledger())
                        == ["android 12 2", "android 13 2", "android 28 1", "android 57 2"],
                    "\(left)")
                await journal.close()
            }
        }
    }

    @Test("a group that is refused counts nothing, and counts once when it is told again")
    func refused() async throws {
        let journal = try Journal.open(self.directory) { $0.maxBytes = 1000 }
        await journal.commit(AdmittedRequest.of(Self.sends([.failed])))
        // As large as the journal.
        let large = AdmittedRequest.of(
            Self.sends([.sent]) + (10..<40).map { TestEvents.send(.sent, id: $0) })
        #expect(await journal.commit(large).isToRetry)
        #expect(Self.lines(await journal.ledger()) == ["android 13 1"])
        #expect(await !journal.commit(AdmittedRequest.of(Self.sends([.sent]))).isToRetry)
        let lines = Self.lines(await journal.ledger())
        #expect(lines == ["android 12 1", "android 13 1", "android 57 1"])
        await journal.close()
    }

    @Test("D60: the window tells it of a notification, and nothing of what was undone")
    func undone() {
        let window = DeduplicationWindow(capacity: 10)
        var (failed, sent) = (
            AdmittedRequest.of(Self.sends([.failed])).acceptedEvents,
            AdmittedRequest.of(Self.sends([.sent])).acceptedEvents
        )
        var changes: [DeduplicationWindow.Change] = []
        window.settle(&failed, changes: &changes)
        window.settle(&sent, changes: &changes)
        #expect(failed.map(\.beside) == [nil] && sent.map(\.beside) == [.sentAndFailed])
        window.undo(changes)
        // Settled again in the other order: now the failure is the later one.
        window.settle(&sent, changes: &changes)
        window.settle(&failed, changes: &changes)
        #expect(sent.map(\.beside) == [nil] && failed.map(\.beside) == [.sentAndFailed])
    }
}

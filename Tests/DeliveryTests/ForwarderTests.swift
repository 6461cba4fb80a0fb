// From the journal to one sink: order, retries, dead letters and the cursor.
internal import CoreMetrics
internal import Delivery
internal import Foundation
internal import GRDB
internal import InMemoryLogging
internal import Logging
internal import MetricsTestKit
internal import SQLiteSink
internal import ServerConfiguration
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

/// Resumes the test when its request is settled.
private final class WaitingReceiver: SettlementReceiver {
    private let continuation: CheckedContinuation<Void, Never>
    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
    func settled(_ requests: [AdmittedRequest]) { self.continuation.resume() }
    func commitEnded() {}
}

struct ForwarderTests {
    let directory: TemporaryDirectory
    private let metrics = TestMetrics()

    /// What was counted: delivered hits, retries, dead letters, and deliveries that were timed.
    func counts() throws -> [Int64] {
        try ["delivered", "retries", "dead"].map {
            try self.metrics.expectCounter($0).totalValue
        } + [Int64(try self.metrics.expectTimer("duration").values.count)]
    }

    init() throws { self.directory = try TemporaryDirectory() }

    func journal(
        _ sink: String, commits ids: ClosedRange<Int>? = nil, retainSeconds: Int = 0
    ) async throws -> Journal {
        var configuration = Journal.Configuration()
        configuration.retainSeconds = retainSeconds
        let journal = try Journal(
            directory: self.directory.file("journal"), sinks: [JournalSink(sink)],
            configuration: configuration,
            onFailure: { _ in })
        for id in ids.map(Array.init) ?? [] {
            try await self.commit([TestEvents.push(.opened, id: id)], to: journal)
        }
        return journal
    }

    func commit(
        _ events: [Sightline_V1_TrackingEvent], to journal: Journal
    ) async throws {
        await self.commit(try TestHits.request(events), to: journal)
    }

    func commit(_ request: AdmittedRequest, to journal: Journal) async {
        await withCheckedContinuation { journal.append([request], for: WaitingReceiver($0)) }
    }

    func forwarder(
        _ journal: Journal, _ sink: any Sink, _ clock: TestClock = TestClock(),
        maxBatch: BatchLimit = .standard, state: SinkState? = nil,
        filter: HitFilter? = nil, flushTimeout: Duration = .seconds(5),
        log: any LogHandler = SwiftLogNoOpLogHandler()
    ) throws -> Forwarder {
        Forwarder(
            from: journal, to: sink, state: state ?? SinkState(sink.name, filter: filter),
            deadLetters: try DeadLetters(path: self.directory.file("dead_letters.db")),
            metrics: SinkMetrics(
                deliveredHits: Counter(label: "delivered", factory: self.metrics),
                retries: Counter(label: "retries", factory: self.metrics),
                deadLetters: Counter(label: "dead", factory: self.metrics),
                missedHits: Counter(label: "missed", factory: self.metrics),
                deliveryDuration: Timer(label: "duration", dimensions: [], factory: self.metrics),
                deliveryHits: Recorder(
                    label: "hits", dimensions: [], aggregate: true, factory: self.metrics)),
            logger: Logger(label: "test") { _ in log }, maxBatch: maxBatch,
            flushTimeout: flushTimeout, clock: clock)
    }

    func letters() throws -> [Row] {
        try DatabaseQueue(inUse: self.directory.file("dead_letters.db")).read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM dead_letters ORDER BY sequence, position")
        }
    }

    @Test("batches come in order, each once, and the cursor survives a restart")
    func order() async throws {
        for run in 0..<2 {
            let first = run * 5 + 1
            let journal = try await self.journal("recording", commits: first...first + 4)
            journal.finish()
            let sink = RecordingSink()
            try await self.forwarder(journal, sink).run()
            #expect(sink.sequences == (first..<first + 5).map { Int64($0) })
            #expect(sink.batches.allSatisfy { $0.journal == journal.identity })
            #expect(try sink.batches.first?.records.map(\.kind) == [.click, .open])
            await journal.close()
        }
        let journal = try await self.journal("recording")
        #expect(journal.cursor(of: "recording") == 10)
        await journal.close()
    }

    @Test("an unavailable sink gets the same batch again, after waits below a ceiling that doubles")
    func unavailable() async throws {
        let journal = try await self.journal("failing", commits: 1...2)
        journal.finish()
        let sink = FailingSink(Array(repeating: .unavailable(reason: "down"), count: 12))
        let clock = TestClock()
        let log = InMemoryLogHandler()
        try await self.forwarder(journal, sink, clock, log: log).run()
        #expect(sink.sequences == Array(repeating: 1, count: 13) + [2])
        #expect(clock.sleeps.count == 12)
        for (attempt, sleep) in clock.sleeps.enumerated() {
            let ceiling = min(Duration.milliseconds(100 << attempt), .seconds(30))
            #expect(sleep >= .zero && sleep <= ceiling)
        }
        let warnings = log.entries.filter { $0.level == .warning }
        #expect(warnings.count == 12)
        for (warning, sleep) in zip(warnings, clock.sleeps) {
            // Nothing was missed, so nothing is said of it.
            #expect(
                warning.metadata
                    == ["sink": "failing", "reason": "down", "retry_after": "\(sleep)"])
        }
        #expect(try self.letters().isEmpty)
        #expect(try self.counts() == [4, 12, 0, 2])
        await journal.close()
    }

    @Test("the waits begin anew when a sink has taken a part of the batch")
    func partly() async throws {
        let journal = try await self.journal("failing", commits: 1...1)
        journal.finish()
        let answers = Array(repeating: SinkAnswer.unavailable(reason: "down"), count: 5)
        let sink = FailingSink(answers + [.progressed(reason: "down")] + answers)
        let clock = TestClock()
        try await self.forwarder(journal, sink, clock).run()
        let ceilings = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5].map { Duration.milliseconds(100 << $0) }
        #expect(clock.sleeps.count == ceilings.count)
        for (sleep, ceiling) in zip(clock.sleeps, ceilings) {
            #expect(sleep >= ceiling / 2 && sleep <= ceiling)
        }
        #expect(sink.sequences == Array(repeating: 1, count: 12))
        await journal.close()
    }

    @Test("what the journal let go is told once, as a dead letter and a count, and then goes on")
    func missed() async throws {
        let journal = try Journal(
            directory: self.directory.file("journal"),
            sinks: [JournalSink("must"), JournalSink("recording", maxLagBytes: 1)],
            onFailure: { _ in })
        for id in 1...3 { try await self.commit([TestEvents.push(.opened, id: id)], to: journal) }
        journal.advance(sink: "must", to: journal.lastSequence)
        // The next commit finds that the first three may go, and is the last.
        try await self.commit([TestEvents.push(.opened, id: 4)], to: journal)
        #expect(journal.missedHits(of: "recording") == 6)
        journal.finish()
        let sink = RecordingSink()
        try await self.forwarder(journal, sink).run()
        #expect(sink.sequences == [4])
        let letters = try self.letters()
        #expect(letters.map { $0["sequence"] } == [3])
        #expect(
            letters.map { $0["reason"] }
                == ["missed: sequences 1 to 3 of the journal, 3 events, 6 hits"])
        #expect(try self.metrics.expectCounter("missed").totalValue == 6)
        #expect(journal.missedHits(of: "recording") == 0)
        await journal.close()
    }

    @Test("refused hits are dead letters with their reason before the cursor passes them")
    func rejected() async throws {
        let journal = try await self.journal("failing", commits: 1...3)
        journal.finish()
        let sink = FailingSink([.delivered, .rejected([1: "no such delivery"])])
        let log = InMemoryLogHandler()
        try await self.forwarder(journal, sink, log: log).run()
        // Where the letter is, and none of the backend's words.
        let warnings = log.entries.filter { $0.level == .warning }
        #expect(warnings.count == 1)
        let place: Logger.Metadata = [
            "sink": "failing", "letters": .stringConvertible(1), "sequence": .stringConvertible(2),
        ]
        #expect(warnings.first?.metadata == place)
        #expect(sink.sequences == [1, 2, 3])
        #expect(journal.cursor(of: "failing") == 3)
        let letters = try self.letters()
        #expect(letters.count == 1)
        let letter = try #require(letters.first)
        #expect(letter["sink"] as String? == "failing")
        #expect(letter["sequence"] as Int? == 2)
        #expect(letter["position"] as Int? == 1)
        #expect(letter["reason"] as String? == "no such delivery")
        #expect(letter["tenant"] as String? == "default")
        let record = try Sightline_V1_TrackingRecord(serializedBytes: letter["record"] as Data)
        #expect(record.kind == .open)
        #expect(record.broadlogID == "h2")
        #expect(letter["hit_id"] as Data? == record.hitID)
        #expect(try self.counts() == [5, 0, 1, 3])
        await journal.close()
    }

    @Test("letters that were held back for a minute are told at the stop")
    func heldBackLetters() async throws {
        let journal = try await self.journal("failing", commits: 1...3)
        journal.finish()
        let sink = FailingSink([.rejected([1: "no"]), .rejected([0: "no", 1: "no"])])
        let log = InMemoryLogHandler()
        try await self.forwarder(journal, sink, log: log).run()
        let told = log.entries.filter { $0.level == .warning }.map { entry in
            ["letters", "sequence"].map { entry.metadata[$0]?.description }
        }
        #expect(told == [["1", "1"], ["2", "2"]])
        await journal.close()
    }

    @Test("a sink that has lost what it had is fed all that is kept, and goes on from its place")
    func lost() async throws {
        let journal = try await self.journal("losing", commits: 1...3, retainSeconds: 600)
        journal.finish()
        let sink = LosingSink(losses: [3])
        try await self.forwarder(journal, sink).run()
        #expect(sink.sequences == [1, 2, 3, 1, 2, 3])
        #expect(sink.resumed == [""])
        #expect(journal.cursor(of: "losing") == 3)
        #expect(journal.resumeToken(of: "losing") == "token 3")
        await journal.close()
        let reopened = try await self.journal("losing", retainSeconds: 600)
        reopened.finish()
        let next = LosingSink(losses: [])
        try await self.forwarder(reopened, next).run()
        #expect(next.resumed == ["token 3"])
        #expect(next.sequences == [])
        await reopened.close()
    }

    @Test("a damaged batch is kept whole as a dead letter, and the next one is delivered")
    func damaged() async throws {
        var journal = try await self.journal("recording", commits: 0xaaaa...0xaaab)
        await journal.close()
        let file = URL(filePath: self.directory.file("journal/segment-1"))
        var bytes = try Data(contentsOf: file)
        let place = try #require(bytes.firstRange(of: Data("haaaa".utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)
        journal = try await self.journal("recording")
        journal.finish()
        let sink = RecordingSink()
        try await self.forwarder(journal, sink).run()
        #expect(sink.sequences == [2])
        let letter = try #require(try self.letters().first)
        #expect((letter["reason"] as String).hasPrefix("damaged"))
        #expect(letter["hit_id"] as Data? == nil)
        #expect((letter["record"] as Data).firstRange(of: Data("iaaaa".utf8)) != nil)
        #expect(journal.cursor(of: "recording") == 2)
        #expect(try self.counts() == [2, 0, 1, 1])
        await journal.close()
    }

    @Test("a stop during an outage leaves the batch in the journal, for the next start")
    func stopDuringOutage() async throws {
        var journal = try await self.journal("recording", commits: 1...2)
        let clock = TestClock(maxSleeps: 3)
        let down = UnavailableSink(name: "recording")
        let forwarder = try self.forwarder(journal, down, clock)
        let running = Task { try await forwarder.run() }
        await clock.waitUntilStuck()
        running.cancel()
        try await running.value
        #expect(clock.sleeps.count == 4)
        #expect(journal.cursor(of: "recording") == 0)
        await journal.close()
        journal = try await self.journal("recording")
        journal.finish()
        let sink = RecordingSink()
        try await self.forwarder(journal, sink).run()
        #expect(sink.sequences == [1, 2])
        await journal.close()
    }

    @Test("D23: nothing of a person who said no is in any file, also where the event is rejected")
    func suppressed() async throws {
        let journal = try await self.journal("sqlite")
        var refused = TestEvents.full(id: 0xdead)
        refused.consent = .optedOut
        refused.subjectID = "person-who-said-no"
        var broken = refused
        broken.occurTime.nanos = -1
        try await self.commit([TestEvents.full(id: 1), refused, broken], to: journal)
        journal.finish()
        try await self.forwarder(journal, try SQLiteSink(path: self.directory.file("hits.db")))
            .run()
        let hits = try TestedSink(kind: .sqlite).readBack(self.directory)
        #expect(hits.map(\.event.subjectID) == ["subject-1"])
        await journal.close()
        let files = try FileManager.default.subpathsOfDirectory(atPath: self.directory.path)
        #expect(Set(files).isSuperset(of: ["hits.db", "journal/segment-1"]))
        for name in files where name != "journal" {
            let bytes = try Data(contentsOf: URL(filePath: self.directory.file(name)))
            #expect(bytes.firstRange(of: Data("person-who-said-no".utf8)) == nil, "\(name)")
            #expect(bytes.firstRange(of: Data("hdead".utf8)) == nil, "\(name)")
        }
    }
}

// What the grpc sink does with a backend's answers, over real connections.
internal import ConfigurationKeys
internal import Foundation
@testable internal import GRPCSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct GRPCSinkTests {
    /// Groups of four hits each, from a sequence on; with a shift they have other hits.
    func batch(
        _ sequences: ClosedRange<Int64> = 1...1, journal: String = "j", shift: Int = 0
    ) throws -> HitBatch {
        HitBatch(
            joining: try sequences.map { sequence in
                try TestHits.batch(
                    (0..<4).map { TestEvents.full(id: Int(sequence) * 10 + $0 + shift) },
                    sequence: sequence, journal: journal)
            })
    }

    /// A journal up to a group, of which it can read some.
    func journal(
        _ newest: Int64, groups: ClosedRange<Int64>? = nil, shift: Int = 0
    ) -> JournalGroups {
        JournalGroups(
            identity: "j", newest: { newest },
            group: { sequence in
                guard let groups, groups.contains(sequence) else { return nil }
                return try? self.batch(sequence...sequence, shift: shift)
            })
    }

    func ids(_ batches: HitBatch...) throws -> [String] {
        try batches.flatMap { try $0.records.map(\.hitID.hex) }
    }

    /// Expects the answer "unavailable", with words in its reason.
    private func expectUnavailable(_ answer: SinkAnswer, _ words: String) {
        guard case .unavailable(let reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains(words), "\(reason)")
    }

    @Test("the first stream says what we are, and batches follow on it")
    func hello() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration(), name: "mine")
        #expect(await sink.deliver(try self.batch(7...8)) == .delivered)
        #expect(await sink.deliver(try self.batch(9...9)) == .delivered)
        let hello = try #require(backend.hellos.first)
        #expect(backend.hellos.count == 1)
        #expect(hello.versions == [1] && hello.capabilities == [.refusals, .erasure])
        #expect(hello.journalID == "j" && hello.sink == "mine" && hello.settledSequence == 6)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(self.batch(7...9)))
        #expect(backend.batches.map(\.end.sequence) == [8, 9])
    }

    @Test(
        "a break at any message leaves out nothing, and repeats nothing",
        arguments: [TestBackend.Reply.breakOff, .takeAndBreak], 0..<5)
    func breaks(_ reply: TestBackend.Reply, _ message: Int) async throws {
        let backend = try await TestBackend(Array(repeating: .take, count: message) + [reply])
        let sink = try GRPCSink(backend.configuration { $0.messageBytes = 1024 })
        let hits = try self.batch(1...5)
        self.expectUnavailable(await sink.deliver(hits), ": unavailable")
        #expect(await sink.deliver(hits) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(hits))
        #expect(backend.hellos.count == 2)
        // After a kill the groups may be joined in another way.
        let next = try GRPCSink(backend.configuration())
        #expect(await next.deliver(try self.batch(4...7)) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(self.batch(1...7)))
    }

    @Test("refused hits are rejected with their reasons, also where the ack was lost")
    func refusals() async throws {
        let backend = try await TestBackend([.refuse([1, 6]), .takeAndBreak])
        let sink = try GRPCSink(backend.configuration())
        let hits = try self.batch(1...2)
        let reasons = Dictionary(
            uniqueKeysWithValues: [1, 6].map { ($0, "the backend refused it: TEST: number \($0)") })
        #expect(await sink.deliver(hits) == .rejected(reasons))
        // A new sink that has not seen the ack.
        let next = try GRPCSink(backend.configuration())
        #expect(await next.deliver(try self.batch(2...2)) == .rejected([2: reasons[6] ?? ""]))
        self.expectUnavailable(await next.deliver(try self.batch(3...3)), ": unavailable")
        #expect(await next.deliver(try self.batch(3...3)) == .delivered)
        #expect(backend.records.count == 10)
    }

    @Test("a refusal of a group that a later batch brings again is kept for it")
    func laterRefusals() async throws {
        let backend = try await TestBackend([.refuse([17])])
        let sink = try GRPCSink(backend.configuration())
        guard case .rejected = await sink.deliver(try self.batch(1...5)) else {
            Issue.record("nothing is rejected")
            return
        }
        // A killed server whose cursor was behind: its batches are smaller now.
        let next = try GRPCSink(backend.configuration())
        next.use(self.journal(6, groups: 1...6))
        #expect(await next.deliver(try self.batch(1...3)) == .delivered)
        let reason = "the backend refused it: TEST: number 17"
        #expect(await next.deliver(try self.batch(4...6)) == .rejected([5: reason]))
        #expect(backend.hellos.count == 2 && backend.records.count == 23)
    }

    @Test("a stream without an ack is broken off in time, and the batch comes again")
    func silence() async throws {
        let hits = try self.batch()
        // On a busy machine an ack that comes may be too late as well.
        for seconds in [2, 20, 200] {
            let backend = try await TestBackend([.stall])
            let sink = try GRPCSink(
                backend.configuration { $0.ackTimeout = .seconds(seconds) })
            self.expectUnavailable(await sink.deliver(hits), "no ack within grpc.ack_seconds")
            guard await sink.deliver(hits) == .delivered else { continue }
            #expect(try backend.records.map(\.hitID.hex) == self.ids(hits))
            return
        }
        Issue.record("the batch never came again in time")
    }

    @Test("no more than the window is on its way")
    func window() async throws {
        var sent = 0
        // On a busy machine a window takes longer to come.
        for seconds in [3, 30, 300] where sent < 7 {
            let backend = try await TestBackend(Array(repeating: .stall, count: 100))
            let sink = try GRPCSink(
                backend.configuration {
                    ($0.ackTimeout, $0.messageBytes, $0.windowHits) = (.seconds(seconds), 1024, 9)
                })
            self.expectUnavailable(await sink.deliver(try self.batch(1...20)), "no ack within")
            sent = backend.batches.reduce(0) { $0 + $1.records.count }
            #expect(sent <= 9)
        }
        #expect(sent >= 7)
        // A window that is smaller than a message lets one pass at a time.
        let backend = try await TestBackend()
        backend.changeWelcome { $0.limits.maxUnacknowledgedHits = 1 }
        let sink = try GRPCSink(
            backend.configuration { ($0.messageBytes, $0.windowHits) = (1024, 9) })
        #expect(await sink.deliver(try self.batch(1...20)) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(self.batch(1...20)))
    }

    @Test(
        "a message says whether another can follow it, so a backend that gathers hits waits for none",
        arguments: [1, 9, 16_384])
    func awaitsAck(_ windowHits: Int) async throws {
        let backend = try await TestBackend(then: .gather)
        let sink = try GRPCSink(
            backend.configuration { ($0.messageBytes, $0.windowHits) = (1024, windowHits) })
        let hits = [try self.batch(1...20), try self.batch(21...21)]
        for batch in hits { #expect(await sink.deliver(batch) == .delivered) }
        #expect(try backend.records.map(\.hitID.hex) == self.ids(hits[0], hits[1]))
        #expect(backend.hellos.count == 1)
        var inFlight = 0
        for (number, batch) in backend.batches.enumerated() {
            inFlight += batch.records.count
            // The end of a delivery, or no room for the next: all that is sent waits for its ack.
            let isLast = [20, 21].contains(batch.end.sequence) && batch.end.index == 3
            let next = isLast ? 0 : backend.batches[number + 1].records.count
            #expect(batch.awaitsAck == (isLast || inFlight + next > windowHits), "\(number)")
            if batch.awaitsAck { inFlight = 0 }
        }
        // Both kinds are there, where the window has room for more than one.
        let kinds = Set(backend.batches.map(\.awaitsAck))
        #expect(kinds == (windowHits == 1 ? [true] : [true, false]))
    }

    @Test("a delivery fills the window, however large that is")
    func deliveriesUpToTheWindow() throws {
        for (hits, bytes, most) in [
            (16_384, 16 << 20, 16 << 20), (100, 64 << 20, 64 << 20), (1, 1 << 20, 8 << 20),
        ] {
            var configuration = GRPCConfiguration()
            configuration.target = "127.0.0.1:1"
            (configuration.windowHits, configuration.windowBytes) = (hits, bytes)
            let limit = try GRPCSink(configuration).maxBatch
            #expect(limit.hits == 4 * hits && limit.bytes == most)
        }
    }

    @Test("by default an answer may have 1 KiB for each hit of a delivery")
    func defaultAnswerBytes() throws {
        var configuration = GRPCConfiguration()
        configuration.target = "127.0.0.1:1"
        #expect(try GRPCSink(configuration).maxBatch.hits << 10 == configuration.answerBytes)
    }

    /// Has the backend refuse the four hits of group 1, with reasons of so many bytes together: in
    /// each Welcome, or in the Acks of two deliveries.
    ///
    /// - Returns: the bytes of that answer.
    private func refuseAll(
        by backend: TestBackend, inWelcome: Bool, reasonBytes: Int
    ) async throws -> Int {
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch()) == .delivered)
        let end = try #require(backend.batches.first).end
        backend.forget()
        let refusals = (0..<4).map { index in
            Sightline_V1_Refusal.with {
                ($0.sequence, $0.index, $0.code) = (1, UInt32(index), "TEST")
                $0.reason = String(repeating: "x", count: reasonBytes / 4)
            }
        }
        let answer = Sightline_V1_DeliverResponse.with { response in
            if inWelcome {
                response.welcome.version = 1
                response.welcome.capabilities = [.refusals]
                response.welcome.journalID = "j"
                response.welcome.durable = end
                response.welcome.refused = refusals
            } else {
                response.ack.durable = end
                response.ack.refused = refusals
            }
        }
        if inWelcome {
            backend.changeWelcome { $0 = answer.welcome }
        } else {
            backend.script([.say([answer]), .say([answer])])
        }
        let bytes: [UInt8] = try answer.serializedBytes()
        return bytes.count
    }

    @Test(
        "an answer of grpc.answer_bytes is read, and one of a byte more breaks the stream",
        arguments: [1 << 10, 5 << 20], [true, false])
    func answerBytes(_ reasonBytes: Int, inWelcome: Bool) async throws {
        // The library's own limit, 4 MiB, is between the two.
        let backend = try await TestBackend()
        let bytes = try await self.refuseAll(
            by: backend, inWelcome: inWelcome, reasonBytes: reasonBytes)
        let hits = try self.batch()
        let reason = "the backend refused it: TEST: " + String(repeating: "x", count: 200)
        let reasons = Dictionary(uniqueKeysWithValues: (0..<4).map { ($0, reason) })
        let large = try GRPCSink(backend.configuration { $0.answerBytes = bytes })
        #expect(await large.deliver(hits) == .rejected(reasons))
        let small = try GRPCSink(backend.configuration { $0.answerBytes = bytes - 1 })
        self.expectUnavailable(
            await small.deliver(hits), "internalError, as of an answer over grpc.answer_bytes")
    }

    @Test("a probe tells what the backend's commits cost, from the time of its ack")
    func rhythm() async throws {
        let backend = try await TestBackend(then: .gather)
        backend.changeWelcome { $0.limits.maxUnacknowledgedHits = 50 }
        let sink = try GRPCSink(backend.configuration())
        let steps = await sink.probe(try self.batch(1...1, journal: "replay-1"))
        #expect(steps.map(\.name) == ["write", "rhythm", "removal"])
        #expect(steps.map(\.outcome) == [.worked, .worked, .skipped])
        #expect(steps[1].text.contains("with a window of 50 hits, at most"), "\(steps[1])")
        backend.script([.breakOff])
        let failing = try GRPCSink(backend.configuration())
        let failed = await failing.probe(try self.batch(1...1, journal: "replay-2"))
        #expect(failed.map(\.name) == ["write"] && failed[0].outcome == .failed)
    }

    @Test("a backend that is busy gets time: a little within the batch, more before the next try")
    func busy() async throws {
        func busy(_ delay: Double) -> Sightline_V1_DeliverResponse {
            .with { $0.busy.delay.nanos = Int32(delay * 1e9) }
        }
        let backend = try await TestBackend([.sayFirst([busy(0.3)]), .take])
        let sink = try GRPCSink(
            backend.configuration { ($0.messageBytes, $0.windowHits) = (1024, 4) })
        let start = ContinuousClock.now
        #expect(await sink.deliver(try self.batch(1...5)) == .delivered)
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(backend.hellos.count == 1)
        backend.greet([.with { $0.busy.delay.seconds = 3600 }])
        let next = try GRPCSink(
            backend.configuration { ($0.ackTimeout, $0.maxBusy) = (.zero, .milliseconds(500)) })
        // Whether Busy is read before the first message is sent is open.
        var answers: [SinkAnswer] = []
        while answers.last != .delivered {
            answers.append(await next.deliver(try self.batch(6...7)))
        }
        #expect(try backend.records.map(\.hitID.hex) == self.ids(self.batch(1...7)))
    }

    @Test("a backend that drains gets what is on its way, and then a new stream")
    func drain() async throws {
        let drain = Sightline_V1_DeliverResponse.with { $0.drain.reason = "an upgrade" }
        let backend = try await TestBackend([.take, .sayFirst([drain])])
        let sink = try GRPCSink(
            backend.configuration { ($0.messageBytes, $0.windowHits) = (1024, 4) })
        let hits = try self.batch(1...5)
        self.expectUnavailable(await sink.deliver(hits), "it ends its stream")
        #expect(await sink.deliver(hits) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(hits))
        #expect(backend.hellos.count == 2)
        // Between two batches nobody is told.
        backend.script([.sayFirst([drain])])
        #expect(await sink.deliver(try self.batch(6...6)) == .delivered)
        #expect(await sink.deliver(try self.batch(7...7)) == .delivered)
        #expect(backend.hellos.count == 3)
    }

    @Test("a loss is told once, whether the backend says it or its Welcome shows it")
    func losses() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        backend.script([.say([.with { $0.lost.reason = "a disk" }])])
        #expect(
            await sink.deliver(try self.batch(4...4))
                == .dataLoss(reason: "the backend: it has lost hits"))
        #expect(sink.resumeToken == "")
        #expect(await sink.deliver(try self.batch(1...4)) == .delivered)
        let token = sink.resumeToken
        backend.forget()
        let next = try GRPCSink(backend.configuration())
        next.resume(at: token)
        guard case .dataLoss(let reason) = await next.deliver(try self.batch(5...5)) else {
            Issue.record("the loss is not noticed")
            return
        }
        #expect(reason.contains("it has no hits of the journal j, but had acknowledged 4/3"))
        #expect(await next.deliver(try self.batch(1...5)) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(self.batch(1...5)))
    }

    @Test("a token of another journal says nothing of this one, and a replay's is not kept")
    func otherJournals() async throws {
        let backend = try await TestBackend()
        let sink = try GRPCSink(backend.configuration())
        sink.resume(at: "former 100 3 1")
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        let token = sink.resumeToken
        #expect(token.hasPrefix("j 1 3 "))
        #expect(await sink.deliver(try self.batch(1...1, journal: "replay-1")) == .delivered)
        #expect(sink.resumeToken == token)
        #expect(await sink.deliver(try self.batch(2...2)) == .delivered)
        #expect(backend.hellos.map(\.journalID) == ["j", "replay-1", "j"])
        #expect(
            try backend.records.map(\.hitID.hex)
                == self.ids(self.batch(1...1), self.batch(1...1), self.batch(2...2)))
    }

    @Test("a Welcome of another journal is not believed")
    func foreignWelcome() async throws {
        let backend = try await TestBackend()
        backend.changeWelcome { welcome in
            welcome.journalID = "other"
            welcome.durable = .with { $0.sequence = 1000 }
        }
        let sink = try GRPCSink(backend.configuration())
        self.expectUnavailable(
            await sink.deliver(try self.batch()), "its Welcome is of another journal")
        #expect(backend.records.isEmpty)
    }

    @Test(
        "a position beyond the newest group is not believed: the sink is suspended, and says why",
        arguments: [(5, nil), (10, 9), (1_000_000_000_000, 9), (.max, 9)]
            as [(UInt64, Int64?)])
    func ahead(_ sequence: UInt64, _ newest: Int64?) async throws {
        let backend = try await TestBackend()
        backend.changeWelcome { $0.durable.sequence = sequence }
        let sink = try GRPCSink(backend.configuration())
        if let newest { sink.use(self.journal(newest, groups: 1...newest)) }
        let hits = try self.batch(1...4)
        guard case .suspended(let reason) = await sink.deliver(hits) else {
            Issue.record("it is believed")
            return
        }
        #expect(reason.contains("whose newest group is \(newest ?? 4)"), "\(reason)")
        #expect(reason.contains("docs/operations.md#restore") && sink.resumeToken == "")
        #expect(backend.records.isEmpty)
        backend.changeWelcome { _ in }
        #expect(await sink.deliver(hits) == .delivered)
        #expect(try backend.records.map(\.hitID.hex) == self.ids(hits))
    }

    @Test("the position of a replay that has no such page ends the replay")
    func replayAhead() async throws {
        let backend = try await TestBackend()
        backend.changeWelcome { $0.durable.sequence = 2 }
        let sink = try GRPCSink(backend.configuration())
        sink.use(self.journal(9, groups: 1...9))
        guard case .suspended = await sink.deliver(try self.batch(journal: "replay-1")) else {
            Issue.record("it is believed")
            return
        }
    }

    @Test(
        "a journal that is an older copy and has grown since leaves out nothing of its own",
        arguments: [(5, 9, true), (5, 9, false), (6, 6, true), (6, 6, false)]
            as [(Int64, Int64, Bool)])
    func restored(_ last: Int64, _ newest: Int64, canRead: Bool) async throws {
        let backend = try await TestBackend([.refuse([17])])
        let sink = try GRPCSink(backend.configuration())
        // Hit 17 is of group 5.
        guard case .rejected = await sink.deliver(try self.batch(1...6)) else {
            Issue.record("nothing is rejected")
            return
        }
        let next = try GRPCSink(backend.configuration())
        next.use(self.journal(newest, groups: canRead ? 4...newest : nil, shift: 1000))
        let hits = try self.batch(4...last, shift: 1000)
        self.expectUnavailable(await next.deliver(hits), "that group has other hits")
        #expect(await next.deliver(hits) == .delivered, "what it refused was another hit")
        #expect(await next.deliver(try self.batch(7...9, shift: 1000)) == .delivered)
        let before = try self.ids(self.batch(1...6))
        let after = try self.ids(hits, self.batch(7...9, shift: 1000))
        let kept = before.enumerated().filter { $0.offset != 17 }.map(\.element)
        #expect(backend.records.map(\.hitID.hex) == kept + after)
    }

    @Test("a backend's own words, which may name a person, are told to `sinks try` alone")
    func backendsWords() async throws {
        let lost = Sightline_V1_DeliverResponse.with { $0.lost.reason = "that of subject-1" }
        let drain = Sightline_V1_DeliverResponse.with { $0.drain.reason = "with subject-1" }
        // A test's break says so in its status.
        let rows: [(reply: TestBackend.Reply, words: String)] = [
            (.breakOff, "a break"), (.say([lost]), "that of subject-1"),
            (.sayFirst([drain]), "with subject-1"),
        ]
        for (reply, words) in rows {
            for quotes in [false, true] {
                let backend = try await TestBackend([reply])
                let sink = try GRPCSink(
                    backend.configuration { ($0.messageBytes, $0.windowHits) = (1024, 4) })
                let answer = await sink.deliver(try self.batch(1...5), quotes: quotes)
                #expect(answer != .delivered)
                #expect("\(answer)".contains(words) == quotes, "\(answer)")
            }
        }
    }

    @Test("no backend, and one that does not answer Hello, are told of within the time")
    func absent() async throws {
        var configuration = GRPCConfiguration()
        // Nobody listens there, and no other test can come to.
        configuration.target = "127.0.0.1:1"
        configuration.connectTimeout = .seconds(2)
        let sink = try GRPCSink(configuration)
        self.expectUnavailable(await sink.deliver(try self.batch()), "the backend 127.0.0.1:")
    }

    @Test("a cancelled delivery ends at once")
    func cancelled() async throws {
        let backend = try await TestBackend([.stall])
        let sink = try GRPCSink(backend.configuration { $0.ackTimeout = .seconds(600) })
        let hits = try self.batch()
        let delivery = Task { await sink.deliver(hits) }
        while backend.batches.isEmpty { await Task.yield() }
        delivery.cancel()
        self.expectUnavailable(await delivery.value, "the server stops")
    }

    @Test("files that cannot be used stop the start, and are named, but never quoted")
    func files() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("secret")
        try Data("hidden secret\n".utf8).write(to: URL(filePath: file))
        let rows: [(String, (inout GRPCConfiguration) -> Void)] = [
            ("grpc.target has to be host:port", { $0.target = "nowhere" }),
            ("which cannot be read", { $0.keyFile = "/nowhere" }),
            ("which has to hold one line with a key", { $0.keyFile = file }),
            ("no connection can be made", { ($0.tlsMode, $0.tlsRoots) = (.tls, "/nowhere") }),
            ("no connection can be made", { ($0.tlsMode, $0.tlsRoots) = (.tls, file) }),
        ]
        for (words, change) in rows {
            var configuration = GRPCConfiguration()
            configuration.target = "127.0.0.1:1"
            change(&configuration)
            let error = #expect(throws: ConfigurationError.self) {
                try GRPCSink(configuration)
            }
            let text = try #require(error).description
            #expect(text.contains(words) && !text.contains("hidden"))
        }
    }
}

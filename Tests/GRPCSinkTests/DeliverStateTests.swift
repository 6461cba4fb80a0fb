// What the grpc sink takes from a backend, and what it does not.
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

@testable internal import GRPCSink

struct DeliverStateTests {
    private static let limits = DeliverState.Limits(
        hits: 10, bytes: 1000, messageBytes: 500, busy: .seconds(60))
    private static let start = ContinuousClock.now

    private static func end(_ sequence: Int64, _ index: Int = 0) -> HitPosition {
        HitPosition(sequence: sequence, index: index, check: 7)
    }

    private static func position(
        _ sequence: UInt64, _ index: UInt32 = 0, check: UInt32 = 7
    ) -> Sightline_V1_Position {
        .with { ($0.sequence, $0.index, $0.check) = (sequence, index, check) }
    }

    private static func welcome(
        _ change: (inout Sightline_V1_Welcome) -> Void = { _ in }
    ) -> Sightline_V1_DeliverResponse {
        .with { response in
            response.welcome.version = 1
            response.welcome.journalID = "j"
            response.welcome.nothing = .init()
            change(&response.welcome)
        }
    }

    private static func ack(
        _ change: (inout Sightline_V1_Ack) -> Void = { _ in }
    ) -> Sightline_V1_DeliverResponse {
        .with { response in
            response.ack = .init()
            change(&response.ack)
        }
    }

    private static func refusal(_ sequence: UInt64, _ index: UInt32) -> Sightline_V1_Refusal {
        .with { refusal in
            (refusal.sequence, refusal.index, refusal.code) = (sequence, index, "C")
        }
    }

    private static func message(
        _ sequence: Int64, _ index: Int = 0, hits: Int = 1, bytes: Int = 1
    ) -> RecordBatchMessage {
        RecordBatchMessage(
            bytes: [UInt8](repeating: 0, count: bytes), hits: hits, end: self.end(sequence, index))
    }

    /// A stream with Welcome and three messages in flight.
    private static func open(
        _ change: (inout Sightline_V1_Welcome) -> Void = { _ in }
    ) throws -> DeliverState {
        var state = DeliverState(journal: "j", limits: self.limits)
        try state.take(self.welcome(change), at: self.start)
        for sequence in Int64(4)...6 { state.send(self.message(sequence), at: self.start) }
        return state
    }

    @Test(
        "an answer that breaks the protocol is told of with what is wrong",
        arguments: [
            (Sightline_V1_DeliverResponse(), "a message came that this version cannot read"),
            (Self.welcome(), "a second Welcome came"),
            (.with { $0.erased = .init() }, "an Erased came, and no Erase waits for it"),
            (Self.ack(), "an Ack came without a position"),
            (Self.ack { $0.durable = .init() }, "an Ack came without a position"),
            (Self.ack { $0.durable = Self.position(3) }, "it acknowledged 3/0, which is no end"),
            (Self.ack { $0.durable = Self.position(7) }, "it acknowledged 7/0, which is no end"),
            (Self.ack { $0.durable = Self.position(5, 1) }, "it acknowledged 5/1, which is no end"),
            (
                Self.ack { $0.durable = Self.position(.max) },
                "it acknowledged \(Int64.max)/0, which is no end"
            ),
            (
                Self.ack { $0.durable = Self.position(5, check: 8) },
                "it acknowledged 5/0, which is no end"
            ),
            (
                Self.ack { ack in
                    ack.durable = Self.position(5)
                    ack.refused = [Self.refusal(6, 0)]
                }, "it refused the hit 6/0, which is not one"
            ),
            (
                Self.ack { ack in
                    ack.durable = Self.position(5)
                    ack.refused = [Self.refusal(3, 0)]
                }, "it refused the hit 3/0, which is not one"
            ),
        ])
    func wrongAnswers(_ response: Sightline_V1_DeliverResponse, _ words: String) throws {
        var state = try Self.open { welcome in
            welcome.capabilities = [.refusals]
            welcome.durable = Self.position(3)
        }
        let failure = #expect(throws: BackendFailure.self) {
            try state.take(response, at: Self.start)
        }
        #expect(failure?.description.hasPrefix(words) == true, "\(failure?.description ?? "")")
    }

    @Test(
        "a Welcome that does not say what it has to is no answer",
        arguments: [
            (Self.ack { $0.durable = Self.position(1) }, "an Ack came before Welcome"),
            (Self.welcome { $0.version = 0 }, "its Welcome has the version 0"),
            (Self.welcome { $0.version = 2 }, "its Welcome has the version 2"),
            (Self.welcome { $0.journalID = "k" }, "its Welcome is of another journal"),
            (Self.welcome { $0.journalID = "" }, "its Welcome is of another journal"),
            (Self.welcome { $0.progress = nil }, "its Welcome says neither"),
            (Self.welcome { $0.durable = .init() }, "its Welcome has a position without"),
            (
                Self.welcome { $0.limits.maxMessageBytes = 1023 },
                "its Welcome has the max_message_bytes 1023, and 1024 is the least"
            ),
            (
                Self.welcome { $0.refused = [Self.refusal(1, 0)] },
                "it refused hits, and its Welcome had no SINK_CAPABILITY_REFUSALS"
            ),
            (
                Self.welcome { welcome in
                    welcome.capabilities = [.refusals]
                    welcome.refused = [Self.refusal(1, 0)]
                }, "it refused the hit 1/0, which is not one"
            ),
        ])
    func wrongWelcome(_ response: Sightline_V1_DeliverResponse, _ words: String) {
        var state = DeliverState(journal: "j", limits: Self.limits)
        let failure = #expect(throws: BackendFailure.self) {
            try state.take(response, at: Self.start)
        }
        #expect(failure?.description.hasPrefix(words) == true, "\(failure?.description ?? "")")
    }

    @Test("refusals need the capability, and an ack covers all messages up to its position")
    func acks() throws {
        var state = try Self.open()
        let refusing = Self.ack { ack in
            ack.durable = Self.position(5)
            ack.refused = [Self.refusal(5, 0)]
        }
        #expect(throws: BackendFailure.self) { try state.take(refusing, at: Self.start) }
        state = try Self.open { $0.capabilities = [.refusals] }
        try state.take(refusing, at: Self.start + .seconds(3))
        #expect(state.inFlight.map(\.end.sequence) == [6] && state.hitsInFlight == 1)
        #expect(state.durable == Self.end(5) && state.progress == Self.start + .seconds(3))
        #expect(state.takeRefused(through: 4) == [])
        #expect(
            state.takeRefused(through: 5) == [
                .init(sequence: 5, index: 0, reason: "the backend refused it: C")
            ])
        #expect(state.takeRefused(through: .max) == [])
    }

    @Test("the window holds hits and bytes up to the lower limit of both sides")
    func window() throws {
        for (welcome, hits, bytes) in [
            (Self.welcome(), 10, 1000),
            (Self.welcome { $0.limits.maxUnacknowledgedHits = 4 }, 4, 1000),
            (Self.welcome { $0.limits.maxUnacknowledgedBytes = 99 }, 10, 99),
            (Self.welcome { $0.limits.maxUnacknowledgedHits = 99 }, 10, 1000),
            (Self.welcome { $0.limits.maxMessageBytes = 1024 }, 10, 1000),
        ] {
            var state = DeliverState(journal: "j", limits: Self.limits)
            #expect(!state.hasRoom(for: Self.message(1), at: Self.start), "before Welcome")
            try state.take(welcome, at: Self.start)
            let all = Self.message(1, hits: 2 * hits, bytes: 2 * bytes)
            #expect(state.hasRoom(for: all, at: Self.start), "alone, whatever its size")
            state.send(Self.message(1, hits: 1, bytes: 1), at: Self.start)
            for (more, hasRoom) in [(0, true), (1, false)] {
                let manyHits = Self.message(2, hits: hits - 1 + more, bytes: 1)
                #expect(state.hasRoom(for: manyHits, at: Self.start) == hasRoom)
                let manyBytes = Self.message(2, hits: 1, bytes: bytes - 1 + more)
                #expect(state.hasRoom(for: manyBytes, at: Self.start) == hasRoom)
            }
        }
    }

    @Test("whether a message fits after another is a matter of the window, and not of Busy")
    func fits() throws {
        var state = try Self.open()
        try state.take(.with { $0.busy.delay.seconds = 1 }, at: Self.start)
        let message = Self.message(7, hits: 7)
        #expect(state.fits(message) && !state.hasRoom(for: message, at: Self.start))
        state.send(message, at: Self.start)
        #expect(!state.fits(Self.message(8)) && state.hitsInFlight == 10)
    }

    @Test("an ack's delay is that from the newest message that it covers")
    func ackDelay() throws {
        var state = try Self.open()
        #expect(state.ackDelay == nil)
        state.send(Self.message(7), at: Self.start + .seconds(2))
        try state.take(
            Self.ack { $0.durable = Self.position(7) }, at: Self.start + .milliseconds(2300))
        #expect(state.ackDelay == .milliseconds(300))
    }

    @Test(
        "a recipient is erased between batches: when all is acknowledged, and before more is sent")
    func erasing() throws {
        var state = try Self.open { $0.capabilities = [.erasure] }
        #expect(state.welcome?.mayErase == true && state.welcome?.mayRefuse == false)
        #expect(state.beginErasing(at: Self.start) == false, "three messages are in flight")
        try state.take(Self.ack { $0.durable = Self.position(6) }, at: Self.start)
        try state.take(.with { $0.busy.delay.seconds = 5 }, at: Self.start)
        #expect(state.beginErasing(at: Self.start) == false, "it is busy")
        let later = Self.start + .seconds(5)
        #expect(state.isSettled && state.beginErasing(at: later))
        #expect(!state.isSettled && state.progress == later)
        #expect(!state.hasRoom(for: Self.message(7), at: later) && !state.beginErasing(at: later))
        #expect(state.takeErased() == nil)
        try state.take(.with { $0.erased.erasedCount = 3 }, at: later)
        #expect(state.isSettled && state.hasRoom(for: Self.message(7), at: later))
        #expect(state.takeErased() == .init(count: 3, retainedUntil: nil, failure: ""))
        #expect(state.takeErased() == nil, "taken once")
        #expect(throws: BackendFailure.self, "one Erase has one answer") {
            try state.take(.with { $0.erased = .init() }, at: later)
        }
    }

    @Test(
        "an answer to Erase says how many, until when, and why not",
        arguments: [
            (0, 0, 0), (5, 0, 5), (5, 1, 6), (5, 999_999_999, 6),
            (-62_135_596_800, 0, -62_135_596_800), (253_402_300_799, 0, 253_402_300_799),
            (-62_135_596_801, 0, nil), (253_402_300_800, 0, nil), (5, -1, nil),
            (5, 1_000_000_000, nil), (.max, 0, nil), (.min, .min, nil),
        ] as [(Int64, Int32, Int64?)])
    func erased(_ seconds: Int64, _ nanos: Int32, _ until: Int64?) throws {
        var state = DeliverState(journal: "j", limits: Self.limits)
        try state.take(Self.welcome { $0.capabilities = [.erasure] }, at: Self.start)
        #expect(state.beginErasing(at: Self.start) == true)
        let response = Sightline_V1_DeliverResponse.with { response in
            response.erased.erasedCount = .max
            response.erased.retainedUntil = .with { ($0.seconds, $0.nanos) = (seconds, nanos) }
            response.erased.failure = String(repeating: "f", count: 300)
        }
        guard let until else {
            #expect(throws: BackendFailure.self) { try state.take(response, at: Self.start) }
            return
        }
        try state.take(response, at: Self.start)
        let answer = state.takeErased()
        let erased = try #require(answer)
        #expect(erased.count == .max && erased.retainedUntil == until)
        #expect(erased.failure.hasPrefix("fff") && erased.failure.count <= 201)
    }

    @Test("nothing is sent while the backend is busy, for at most as long as the key allows")
    func busy() throws {
        for (seconds, waited) in [(30, 30), (3600, 60), (-5, 0)] {
            var state = DeliverState(journal: "j", limits: Self.limits)
            try state.take(Self.welcome(), at: Self.start)
            try state.take(.with { $0.busy.delay.seconds = Int64(seconds) }, at: Self.start)
            let end = Self.start + .seconds(waited)
            #expect(!state.hasRoom(for: Self.message(1), at: end - .nanoseconds(1)))
            #expect(state.hasRoom(for: Self.message(1), at: end))
        }
    }

    @Test("a token is read back as it was written, and anything else is none")
    func places() {
        let token = BackendResumeToken(journal: "journal-1", position: Self.end(12, 3))
        #expect(BackendResumeToken(token.text) == token)
        for text in ["", "a", "a 1 2", "a 1 2 x", "a 1 2 3 4", "a 1 2 -3"] {
            #expect(BackendResumeToken(text) == nil)
        }
    }
}

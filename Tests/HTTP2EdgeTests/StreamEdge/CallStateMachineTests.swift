// What the edge decides for a call, without a channel: each state with each input.
internal import NIOCore
internal import NIOHPACK
internal import Testing

@testable internal import HTTP2Edge
@testable internal import TrackingServer

struct CallStateMachineTests {
    private typealias Action = CallStateMachine.Action

    private static let stream = TrackingService.streamPath
    private static let unary = TrackingService.recordPath
    private static let other = "/grpc.health.v1.Health/Check"

    /// A message as gRPC frames it.
    private static func framed(_ count: Int, flag: UInt8 = 0) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        return [flag] + length + [UInt8](repeating: 7, count: count)
    }

    /// Messages that were joined into one.
    private static func joined(_ messages: [UInt8]) -> [UInt8] {
        Self.framed(messages.count).prefix(5) + messages
    }

    // MARK: The head

    /// As many bytes beyond ASCII as a value may have.
    private static let accents = String(repeating: "é", count: HeaderText.maxOtherBytes / 2)

    @Test("a head opens the call with its timeout, or refuses it")
    func heads() {
        let value = String(repeating: "x", count: 1000)
        let rows: [(HPACKHeaders, CallStateMachine.HeadAction)] = [
            ([":path": Self.unary], .open(timeout: nil)),
            ([":path": Self.unary, "grpc-timeout": "2S"], .open(timeout: .seconds(2))),
            ([":path": Self.unary, "grpc-timeout": "-2S"], .refuse(.timeout("-2S"))),
            ([:], .open(timeout: nil)),
            ([":path": Self.unary, "k": .init(value.dropFirst())], .open(timeout: nil)),
            (
                [":path": Self.unary, "k": value],
                .refuse(.metadataTooLarge(bytes: 1001, maxBytes: 1000))
            ),
            ([":path": Self.unary, "k": .init(Self.accents)], .open(timeout: nil)),
            ([":path": Self.unary, "k": "x" + Self.accents + "x"], .open(timeout: nil)),
            ([":path": Self.unary, "k": Self.accents + "é"], .refuse(.metadataText("k"))),
            ([":path": Self.accents + "é"], .refuse(.metadataText(":path"))),
        ]
        for (headers, expected) in rows {
            var machine = CallStateMachine()
            #expect(machine.isIdle)
            var headers = headers
            let action = machine.receiveHead(
                &headers, isEnd: false, metadataLimit: MetadataLimit(maxBytes: 1000),
                limits: TestCall.limits)
            #expect(action == expected)
            #expect(!machine.isIdle)
            if case .open = expected { #expect(!headers.contains(name: "grpc-timeout")) }
        }
    }

    // MARK: Messages

    @Test("bytes pass, are held, dropped or refused by the call's kind and state")
    func bytes() {
        let whole = Self.framed(3)
        let rows: [(path: String, bytes: [UInt8], isEnd: Bool, hasRoom: Bool, action: Action)] = [
            (Self.unary, whole, false, true, .pass),
            (Self.unary, whole, true, true, .pass),
            (Self.unary, whole, false, false, .refuse(.overloaded)),
            (Self.unary, Self.framed(0, flag: 1), false, true, .refuse(.messageFlag(1))),
            (Self.unary, whole + Self.framed(3, flag: 1), true, true, .refuse(.messageFlag(1))),
            (Self.other, [2], false, true, .refuse(.messageFlag(2))),
            (Self.stream, whole, false, true, .passHeld),
            (Self.stream, Array(whole.prefix(6)), false, true, .passHeld),
            (Self.stream, Self.framed(0, flag: 1), false, true, .refuse(.messageFlag(1))),
            (Self.stream, [255], true, true, .refuse(.messageFlag(255))),
            (Self.stream, whole + [1], false, false, .refuse(.messageFlag(1))),
            (Self.stream, whole, true, true, .pass),
            (Self.stream, whole, false, false, .refuse(.overloaded)),
            (Self.other, Self.framed(1000), false, true, .pass),
            // The size is what refuses it, also where there is no room.
            (Self.other, Self.framed(1001), false, true, .refuse(.messageTooLarge(maxBytes: 1000))),
            (Self.other, Self.framed(1001), true, false, .refuse(.messageTooLarge(maxBytes: 1000))),
            (Self.unary, Self.framed(1 << 20), false, true, .pass),
            (
                Self.unary, Array(Self.framed(1 << 20 + 1).prefix(5)), false, true,
                .refuse(.messageTooLarge(maxBytes: 1 << 20))
            ),
        ]
        for row in rows {
            var call = TestCall(row.path)
            let action = call.receive(row.bytes, isEnd: row.isEnd, hasRoom: row.hasRoom)
            #expect(action == row.action, "\(row.path), \(row.bytes.count) bytes")
        }
    }

    @Test("compressed bytes go to the inflater, and its messages pass as others do")
    func compressed() {
        let rows: [(path: String, bytes: Int, hasRoom: Bool, action: Action)] = [
            (Self.unary, 10, true, .pass), (Self.unary, 10, false, .refuse(.overloaded)),
            (Self.stream, 10, true, .passHeld), (Self.stream, 10, false, .refuse(.overloaded)),
            (Self.stream, 64 << 10 - 5, true, .passHeld), (Self.stream, 64 << 10, true, .pass),
        ]
        for row in rows {
            var call = TestCall(row.path, isCompressed: true)
            #expect(call.receive([1, 2, 3]) == .inflate && call.machine.beginTurn())
            #expect(call.machine.nextStep() == .inflate)
            let message = Self.framed(row.bytes)
            #expect(call.receiveInflated(message, hasRoom: row.hasRoom) == row.action)
        }
        var call = TestCall(isCompressed: true)
        #expect(call.receive([1], hasRoom: false) == .refuse(.overloaded))
    }

    /// What may be wrong with a compressed message, and what its call is told.
    private static let failures: [(InflateFailure, CallRefusal)] = [
        (.tooLarge, .messageTooLarge(maxBytes: 1 << 20)), (.flag(2), .messageFlag(2)),
        (.malformed, .messageNotInflated),
    ]

    @Test("a message that cannot be inflated is refused with its own cause")
    func failures() {
        for path in [Self.stream, Self.unary] {
            for (failure, refusal) in Self.failures {
                var call = TestCall(path, isCompressed: true)
                call.receive([1])
                #expect(call.machine.beginTurn() && call.machine.nextStep() == .inflate)
                #expect(call.refuse(failure) == .refuse(refusal))
                #expect(call.machine.hasEnded && call.machine.nextStep() == nil)
            }
        }
    }

    @Test("a frame that goes on with a message of an earlier burst passes by itself")
    func continued() {
        var call = TestCall()
        #expect(call.receive(Self.begun) == .passHeld)
        call.endBurst()
        let frame = Self.rest + Self.framed(1) + Self.framed(2)
        #expect(call.receive(frame) == .pass)
        #expect(call.passed == [Self.begun, frame])
    }

    // MARK: A message that is refused

    @Test("a stream passes the requests before a refused message, and then ends as at a half-close")
    func refusedBehindRequests() {
        let (one, two) = (Self.framed(3), Self.framed(4))
        let (begun, rest) = (Array(one.prefix(6)), Array(one.suffix(2)))
        let (both, flagged) = (one + two, Self.framed(0, flag: 1))
        // A length of 1 MiB and a byte, whole and in two frames.
        let (tooLarge, begunLength): ([UInt8], [UInt8]) = ([0, 0, 0x10, 0, 1], [0, 0, 0x10])
        let size = CallRefusal.messageTooLarge(maxBytes: 1 << 20)
        let rows: [(frames: [[UInt8]], passed: [[UInt8]], refusal: CallRefusal)] = [
            ([one, two, flagged], [Self.joined(both), []], .messageFlag(1)),
            ([both + flagged + two], [both, []], .messageFlag(1)),
            ([one, two + [9]], [one, two, []], .messageFlag(9)),
            ([begun, rest + flagged], [begun, rest, []], .messageFlag(1)),
            ([one + tooLarge + two], [one, []], size), ([one, tooLarge], [one, []], size),
            // The library drops the beginning of a prefix.
            ([one + begunLength, [0, 1]], [one + begunLength, []], size),
        ]
        for row in rows {
            var call = TestCall()
            for frame in row.frames { call.receive(frame) }
            #expect(call.passed == row.passed)
            #expect(call.machine.isRefused && call.refusal == nil)
            #expect(call.receive(two) == .drop && call.receive([], isEnd: true) == .drop)
            #expect(call.passed == row.passed, "nothing passes behind it")
            #expect(call.machine.sendTrailers(isSuccess: true) == row.refusal)
            #expect(call.machine.hasEnded && call.receive([], isEnd: true) == .drop)
            #expect(call.machine.sendTrailers(isSuccess: true) == nil, "it ends once")
        }
    }

    /// The lengths of the messages in what passes, those that were joined each by itself, and the
    /// bytes behind them.
    private static func deframed(_ bytes: [UInt8]) -> (lengths: [Int], rest: [UInt8]) {
        var (lengths, rest) = ([Int](), bytes)
        while rest.count >= 5 {
            let length = rest[1..<5].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 5 + length else { break }
            let body = Array(rest[5..<5 + length])
            // A message of ours is all sevens, and joined ones begin with a flag.
            lengths += body.first == 7 ? [length] : Self.deframed(body).lengths
            rest.removeFirst(5 + length)
        }
        return (lengths, rest)
    }

    @Test("wherever frames and bursts end, the requests before a refused message pass and no other")
    func refusedAtAnySplit() {
        let refused: [(message: [UInt8], refusal: CallRefusal)] = [
            ([0, 0, 0x10, 0, 1, 7, 7], .messageTooLarge(maxBytes: 1 << 20)),
            (Self.framed(2, flag: 1), .messageFlag(1)),
        ]
        for (message, refusal) in refused {
            let bytes = Self.framed(3) + Self.framed(4) + message
            for first in 1..<bytes.count {
                for second in first...bytes.count {
                    for bursts in 0..<4 {
                        var call = TestCall()
                        let frames = [bytes[..<first], bytes[first..<second], bytes[second...]]
                        for (number, frame) in frames.enumerated() where !frame.isEmpty {
                            call.receive(Array(frame))
                            if bursts >> number & 1 == 1 { call.endBurst() }
                        }
                        let place: Comment = "\(first), \(second), bursts \(bursts)"
                        #expect(call.passed.last == [] && call.refusal == nil, place)
                        let (lengths, rest) = Self.deframed(Array(call.passed.joined()))
                        #expect(lengths == [3, 4], place)
                        // The library drops the beginning of a prefix.
                        #expect(rest.count < 5 && message.starts(with: rest), place)
                        #expect(call.machine.sendTrailers(isSuccess: true) == refusal, place)
                    }
                }
            }
        }
    }

    @Test("so does a compressed stream, whatever is wrong with the message")
    func refusedBehindInflated() {
        for (failure, refusal) in Self.failures {
            var call = TestCall(isCompressed: true)
            call.receive([1])
            #expect(call.machine.beginTurn() && call.machine.nextStep() == .inflate)
            call.receiveInflated(Self.framed(1))
            call.receiveInflated(Self.framed(2))
            #expect(call.refuse(failure) == .passEnd)
            #expect(call.passed == [Self.joined(Self.framed(1) + Self.framed(2)), []])
            #expect(call.machine.nextStep() == nil && call.machine.needsBytes)
            #expect(call.receive([1], isEnd: true) == .drop && !call.machine.beginTurn())
            #expect(call.machine.sendTrailers(isSuccess: true) == refusal)
        }
        var truncated = TestCall(isCompressed: true)
        truncated.receive([1], isEnd: true)
        #expect(truncated.machine.beginTurn() && truncated.machine.nextStep() == .inflate)
        truncated.receiveInflated(Self.framed(1))
        #expect(truncated.receiveNoMessage(hasRest: true) == .drop)
        // The first batch ends, and the next has the end alone.
        #expect(truncated.machine.nextStep() == .endBatch(rests: false))
        _ = truncated.machine.receiveDemand()
        #expect(truncated.machine.nextStep() == .inflate)
        #expect(truncated.receiveNoMessage(hasRest: true) == .passEnd)
        #expect(truncated.machine.sendTrailers(isSuccess: true) == .messageNotInflated)
    }

    @Test("an error of a request before a refused message ends the stream in its place")
    func earlierError() {
        var call = TestCall()
        call.receive(Self.framed(1) + Self.framed(0, flag: 1))
        #expect(call.machine.isRefused)
        #expect(call.machine.sendTrailers(isSuccess: false) == nil && call.machine.hasEnded)
    }

    @Test("a message's time is over once one is refused, and the call's deadline is not")
    func refusedTimes() {
        let now = NIODeadline.uptimeNanoseconds(0)
        var call = TestCall()
        call.receive(Self.framed(1) + Self.begun)
        #expect(call.machine.watchMessage(at: now) == .seconds(30))
        call.receive(Self.rest + [1])
        #expect(call.machine.isRefused)
        #expect(call.machine.messageTimerFired(at: now + .seconds(30)) == .nothing)
        #expect(call.machine.end() != nil, "another refusal may end it first")
    }

    @Test("each close by the library has its cause, by the state of the call")
    func closeCauses() {
        let idle = CallStateMachine()
        var refused = TestCall()
        refused.receive(Self.framed(1) + [1])
        var ended = TestCall()
        _ = ended.machine.end()
        let rows: [(machine: CallStateMachine, reading: CallRefusal?, other: CallRefusal?)] = [
            (idle, nil, nil), (TestCall().machine, .internalFailure, .closing),
            (refused.machine, .messageFlag(1), .messageFlag(1)), (ended.machine, nil, nil),
        ]
        for row in rows {
            #expect(row.machine.closeCause(isReading: true) == row.reading)
            #expect(row.machine.closeCause(isReading: false) == row.other)
        }
    }

    @Test("a compressed request that ends within a message is refused")
    func compressedEnd() {
        for (hasRest, action) in [(false, Action.passEnd), (true, .refuse(.messageNotInflated))] {
            var call = TestCall(isCompressed: true)
            call.receive([1], isEnd: true)
            #expect(call.machine.beginTurn() && call.machine.nextStep() == .inflate)
            #expect(call.receiveNoMessage(hasRest: hasRest) == action)
        }
        var open = TestCall(isCompressed: true)
        open.receive([1])
        #expect(open.machine.beginTurn() && open.machine.nextStep() == .inflate)
        #expect(open.receiveNoMessage(hasRest: true) == .drop)
        #expect(open.machine.nextStep() == nil && open.machine.needsBytes, "the turn is over")
    }

    @Test("demand is met by messages at hand, or by the connection, of an ended call by it alone")
    func demand() {
        for path in [Self.stream, Self.unary] {
            var plain = TestCall(path)
            #expect(!plain.machine.receiveDemand() && plain.machine.needsBytes)
            #expect(!plain.machine.beginTurn() && plain.machine.nextStep() == nil)
            var compressed = TestCall(path, isCompressed: true)
            #expect(compressed.machine.receiveDemand() && compressed.machine.needsBytes)
            #expect(compressed.machine.beginTurn() && !compressed.machine.needsBytes)
            _ = compressed.machine.end()
            #expect(compressed.machine.nextStep() == nil && compressed.machine.needsBytes)
            #expect(!compressed.machine.receiveDemand() && !compressed.machine.beginTurn())
        }
    }

    // MARK: The end

    @Test("what comes behind a call's end is dropped, but for the half-close")
    func ended() {
        for isCompressed in [false, true] {
            for path in [Self.stream, Self.unary] {
                var call = TestCall(path, isCompressed: isCompressed)
                call.machine.sendHead()
                #expect(!call.machine.hasEnded)
                #expect(call.machine.sendTrailers(isSuccess: true) == nil)
                #expect(call.machine.hasEnded)
                #expect(call.receive(Self.framed(2000)) == .drop)
                #expect(call.receive(Self.framed(3), hasRoom: false) == .drop)
                #expect(call.receive(Self.framed(3), isEnd: true) == .passEnd)
                #expect(call.passed == [[]])
            }
        }
    }

    @Test("requests that were held when the call ended pass before its half-close")
    func heldAtTheEnd() {
        var call = TestCall()
        call.receive(Self.framed(1))
        call.receive(Self.framed(2))
        _ = call.machine.end()
        call.receive(Self.framed(3), isEnd: true)
        let both = Self.framed(1) + Self.framed(2)
        #expect(call.passed.map(\.count) == [5 + both.count, 0])
    }

    @Test("a call ends once, with a head where the answer has none")
    func ends() {
        typealias Ending = CallStateMachine.Ending
        var call = TestCall()
        #expect(call.machine.end() == Ending(needsHead: true))
        #expect(call.machine.end() == nil)
        var answered = TestCall()
        answered.machine.sendHead()
        #expect(answered.machine.end() == Ending(needsHead: false))
        var finished = TestCall()
        #expect(finished.machine.sendTrailers(isSuccess: false) == nil)
        #expect(finished.machine.end() == nil)
    }

    // MARK: The time of a message

    /// What happens to the time of a message, at a second, and what comes of it.
    enum Moment {
        /// Bytes come, and then their burst ends.
        case burst([UInt8], isEnd: Bool = false, timer: TimeAmount?)
        case inflated(timer: TimeAmount?)
        case starved(hasRest: Bool, timer: TimeAmount?)
        case fires(MessageDeadline.Action)
        case end
    }

    private func check(_ call: TestCall, _ moments: [(second: Int64, moment: Moment)]) {
        var call = call
        for (second, moment) in moments {
            let now = NIODeadline.uptimeNanoseconds(0) + .seconds(second)
            switch moment {
            case .burst(let bytes, let isEnd, let timer):
                call.receive(bytes, isEnd: isEnd)
                #expect(call.machine.watchMessage(at: now) == timer, "at \(second) s")
            case .inflated(let timer):
                call.receiveInflated(Self.framed(1))
                #expect(call.machine.watchMessage(at: now) == timer, "at \(second) s")
            case .starved(let hasRest, let timer):
                call.receiveNoMessage(hasRest: hasRest)
                #expect(call.machine.watchMessage(at: now) == timer, "at \(second) s")
            case .fires(let action):
                #expect(call.machine.messageTimerFired(at: now) == action, "at \(second) s")
            case .end: _ = call.machine.end()
            }
        }
    }

    private static let (begun, rest) = (Array(framed(4).prefix(7)), [7, 7] as [UInt8])
    private static let unfinished = MessageDeadline.Action.refuse(
        .messageUnfinished(after: .seconds(30)))

    @Test("a message of a stream has its time, and silence between messages none")
    func streamTimes() {
        self.check(
            TestCall(),
            [(0, .burst(Self.begun, timer: .seconds(30))), (30, .fires(Self.unfinished))])
        self.check(TestCall(), [(0, .burst(Self.framed(4), timer: nil))])
        // The first ends and a second begins, for which the one timer waits again.
        self.check(
            TestCall(),
            [
                (0, .burst(Self.begun, timer: .seconds(30))),
                (20, .burst(Self.rest + Self.begun, timer: nil)),
                (30, .fires(.wait(.seconds(20)))), (49, .burst(Self.rest, timer: nil)),
                (50, .fires(.nothing)), (60, .burst(Self.begun, timer: .seconds(30))),
                (61, .burst([7], timer: nil)), (90, .fires(Self.unfinished)),
            ])
        self.check(
            TestCall(),
            [
                (0, .burst(Self.begun, timer: .seconds(30))), (1, .end),
                (2, .burst(Self.rest, timer: nil)), (30, .fires(.nothing)),
            ])
    }

    @Test("a request to another method has that time in all, from its head to its end")
    func requestTimes() {
        self.check(
            TestCall(Self.unary),
            [
                (0, .burst(Self.framed(4), timer: .seconds(30))),
                (29, .burst(Self.framed(4), timer: nil)), (30, .fires(Self.unfinished)),
            ])
        self.check(
            TestCall(Self.unary),
            [
                (0, .burst([], timer: .seconds(30))),
                (29, .burst(Self.framed(4), isEnd: true, timer: nil)), (30, .fires(.nothing)),
            ])
    }

    @Test("a compressed message that waits for its reader has no time, an incomplete one has")
    func compressedTimes() {
        self.check(
            TestCall(isCompressed: true),
            [
                (0, .burst([1], timer: nil)), (1, .starved(hasRest: true, timer: .seconds(30))),
                (2, .inflated(timer: nil)), (3, .starved(hasRest: false, timer: nil)),
                (31, .fires(.nothing)), (40, .starved(hasRest: true, timer: .seconds(30))),
                (70, .fires(Self.unfinished)),
            ])
    }
}

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

    // MARK: The head

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
            (Self.unary, Self.framed(0, flag: 1), false, true, .pass),
            (Self.stream, whole, false, true, .passHeld),
            (Self.stream, Array(whole.prefix(6)), false, true, .passHeld),
            (Self.stream, Self.framed(0, flag: 1), false, true, .pass),
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
        #expect(call.machine.refusal(of: .tooLarge) == .messageTooLarge(maxBytes: 1 << 20))
        #expect(call.machine.refusal(of: .malformed) == .messageNotInflated)
    }

    @Test("a compressed request that ends within a message is refused")
    func compressedEnd() {
        for (hasRest, action) in [(false, Action.passEnd), (true, .refuse(.messageNotInflated))] {
            var call = TestCall(isCompressed: true)
            call.receive([1], isEnd: true)
            #expect(call.machine.beginTurn() && call.machine.nextStep() == .inflate)
            #expect(call.machine.receiveNoMessage(hasRest: hasRest) == action)
        }
        var open = TestCall(isCompressed: true)
        open.receive([1])
        #expect(open.machine.beginTurn() && open.machine.nextStep() == .inflate)
        #expect(open.machine.receiveNoMessage(hasRest: true) == .drop)
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
                call.machine.sendHeaders(isEnd: false)
                #expect(!call.machine.hasEnded)
                call.machine.sendHeaders(isEnd: true)
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
        answered.machine.sendHeaders(isEnd: false)
        #expect(answered.machine.end() == Ending(needsHead: false))
        var finished = TestCall()
        finished.machine.sendHeaders(isEnd: true)
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
                _ = call.machine.receiveNoMessage(hasRest: hasRest)
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

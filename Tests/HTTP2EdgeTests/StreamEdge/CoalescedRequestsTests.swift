// Requests that came in one burst, as one message: what is joined, and what comes out of it again.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOHPACK
internal import TestSupport
internal import Testing

struct CoalescedRequestsTests {
    // MARK: A run's requests

    @Test(
        "a message that holds whole messages is a run of them, any other is one request",
        arguments: [
            ([0x0a, 0x01, 0x41], [[0x0a, 0x01, 0x41]]),
            ([], [[]]),
            (framed([1]) + framed([2, 3]), [[1], [2, 3]]),
            (framed([]), [[]]),
            (framed([1]) + [0], [framed([1]) + [0]]),
            (framed([1]).dropLast(1) + [], [[0, 0, 0, 0, 1]]),
            ([0, 0xff, 0xff, 0xff, 0xff, 1], [[0, 0xff, 0xff, 0xff, 0xff, 1]]),
            ([1, 0, 0, 0, 1, 7], [[1, 0, 0, 0, 1, 7]]),
        ] as [([UInt8], [[UInt8]])])
    func requests(_ message: [UInt8], _ requests: [[UInt8]]) {
        #expect(CoalescedRequests(GRPCNIOTransportBytes(message)).map(\.bytes) == requests)
    }

    // MARK: What is joined

    private let path = "/sightline.v1.TrackingService/StreamEvents"

    /// Bursts of DATA frames in; the DATA frames that the library gets.
    private func passed(
        _ bursts: [[[UInt8]]], path: String? = nil, ends: Bool = false
    ) throws -> [[UInt8]] {
        var call = TestCall(path ?? self.path)
        for burst in bursts {
            for frame in burst { call.receive(frame) }
            call.endBurst()
        }
        if ends { call.receive([], isEnd: true) }
        #expect(call.refusal == nil)
        return call.passed
    }

    @Test("a burst of small requests is one message, and each burst has its own")
    func bursts() throws {
        let (one, two, three) = (framed([1]), framed([2, 2]), framed([3]))
        #expect(
            try self.passed([[one, two], [three], [one + two, three]])
                == [framed(one + two), three, framed(one + two + three)])
        #expect(try self.passed([[one + two]]) == [framed(one + two)])
    }

    @Test("what has another path passes through as it came")
    func others() throws {
        let burst = [framed([1]), framed([2])]
        #expect(try self.passed([burst], path: "/grpc.health.v1.Health/Check") == burst)
    }

    @Test("inflated requests are joined too")
    func inflated() throws {
        var call = TestCall(self.path, isCompressed: true)
        call.receive([7])
        let begins = call.machine.beginTurn()
        #expect(begins)
        for message in [framed([1]), framed([2])] { call.receiveInflated(message) }
        call.endBurst()
        #expect(call.passed == [framed(framed([1]) + framed([2]))])
    }

    @Test("the end of a stream comes after all that came before it")
    func endOfStream() throws {
        let burst = [framed([1]), framed([2])]
        #expect(
            try self.passed([], ends: true) == [[]])
        #expect(try self.passed([burst], ends: true) == [framed(burst[0] + burst[1]), []])
    }

    @Test("a message that lies in several frames is joined like one that lies in one")
    func cutMessages() throws {
        let (one, two) = (framed([1, 1, 1]), framed([2]))
        let frames = [
            Array(one.prefix(3)), Array(one.dropFirst(3).prefix(2)), one.dropFirst(5) + two,
        ]
        #expect(try self.passed([frames]) == [framed(one + two)])
        #expect(
            try self.passed([Array(frames.prefix(2)) + [Array(one.suffix(3))]]) == [
                frames[0], frames[1], Array(one.suffix(3)),
            ])
    }

    @Test("a message that is cut by a burst's end is not held, and the next are joined again")
    func cutBursts() throws {
        let (one, two, three) = (framed([1]), framed([2]), framed([3, 3, 3]))
        #expect(
            try self.passed([
                [one + two + three.prefix(6)], [Array(three.suffix(2))], [one, two],
            ]) == [
                framed(one + two), Array(three.prefix(6)), Array(three.suffix(2)),
                framed(one + two),
            ])
        // A frame with the end of such a message passes unchanged.
        #expect(
            try self.passed([[Array(three.prefix(6))], [three.suffix(2) + one, two + three]])
                == [Array(three.prefix(6)), three.suffix(2) + one, framed(two + three)])
    }

    @Test("a message of 64 KiB is joined, one of a byte more passes through")
    func messageLimit() throws {
        let small = framed([1])
        for (bytes, isJoined) in [(64 << 10, true), (64 << 10 + 1, false)] {
            let frame = framed([UInt8](repeating: 7, count: bytes - 5))
            let expected = isJoined ? [framed(small + frame)] : [small, frame]
            #expect(try self.passed([[small, frame]]) == expected)
        }
    }

    @Test("a run is passed on with the message that fills its 256 KiB")
    func runLimit() throws {
        for (bytes, count) in [(64 << 10, 4), (60_000, 5), (8192, 32)] {
            let frame = framed([UInt8](repeating: 7, count: bytes - 5))
            let passed = try self.passed([[[UInt8]](repeating: frame, count: count + 1)])
            #expect(passed.map(\.count) == [bytes * count + 5, bytes])
        }
    }

    @Test("however messages are cut into frames, the same requests come out in the same order")
    func anyCuts() throws {
        var generator = Dice(seed: 5)
        for _ in 0..<300 {
            let requests = (0..<Int.random(in: 1...12, using: &generator)).map { number in
                let count =
                    Bool.random(using: &generator)
                    ? Int.random(in: 0...40, using: &generator)
                    : [9000, 65_531, 65_532].randomElement(using: &generator) ?? 0
                return [UInt8](repeating: UInt8(number + 8), count: count)
            }
            var rest = requests.flatMap { framed($0) }[...]
            var bursts: [[[UInt8]]] = [[]]
            while !rest.isEmpty {
                let cuts = [1, 4, 45, 5 + 9000, 20_000, 65_536]
                let count = cuts.randomElement(using: &generator) ?? 1
                bursts[bursts.count - 1].append([UInt8](rest.prefix(count)))
                rest = rest.dropFirst(count)
                if Bool.random(using: &generator) { bursts.append([]) }
            }
            let stream = try self.passed(bursts).flatMap { $0 }
            let messages = CoalescedRequests(GRPCNIOTransportBytes(stream)).map(\.bytes)
            let unfolded = messages.flatMap {
                CoalescedRequests(GRPCNIOTransportBytes($0)).map(\.bytes)
            }
            #expect(unfolded == requests)
        }
    }
}

/// A message as gRPC frames it.
private func framed(_ message: [UInt8]) -> [UInt8] {
    let count = UInt32(message.count)
    return [0] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + message
}

extension RequestBuffer {
    fileprivate var bytes: [UInt8] { self.withUnsafeBytes { [UInt8]($0) } }
}

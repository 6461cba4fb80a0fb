// What passes of a client's bytes: PINGs are taken out, and small DATA frames are joined.
@testable internal import HTTP2Edge
internal import NIOCore
internal import TestSupport
internal import Testing

struct FrameGateTests {
    /// A frame; type 0 is DATA.
    private static func frame(
        _ payload: [UInt8], type: UInt8 = 0, flags: UInt8 = 0, stream: UInt8 = 1
    ) -> [UInt8] {
        let count = payload.count
        let length = [UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
        return length + [type, flags, 0, 0, 0, stream] + payload
    }

    /// The steps for a greeted connection's chunks.
    private func steps(_ chunks: [[UInt8]]) -> [Step] {
        var gate = FrameGate()
        var steps: [Step] = []
        for chunk in [FrameScript.greeted.bytes] + chunks {
            var offset = 0
            let chunk = ByteBuffer(bytes: chunk)
            while let step = gate.next(in: chunk, from: &offset) {
                steps.append(
                    Step(bytes: step.bytes.map { [UInt8]($0.readableBytesView) }, ping: step.ping))
            }
        }
        return Array(steps.dropFirst())
    }

    private struct Step: Equatable {
        var bytes: [UInt8]?
        var ping: UInt64?
    }

    /// What a greeted connection's chunks become.
    private func joined(_ chunks: [[UInt8]]) -> [UInt8] {
        self.steps(chunks).flatMap { $0.bytes ?? [] }
    }

    @Test("a chunk without a PING and small frames passes as it is, in one step")
    func unchanged() {
        var gate = FrameGate()
        var bytes = FrameScript.greeted.bytes
        for stream in 0..<100 { bytes += Self.frame([1, 2], stream: UInt8(stream)) }
        let chunk = ByteBuffer(bytes: bytes)
        var offset = 0
        let step = gate.next(in: chunk, from: &offset)
        #expect(step?.bytes == chunk && step?.ping == nil)
        #expect(gate.next(in: chunk, from: &offset) == nil)
        var end = 0
        #expect(gate.next(in: ByteBuffer(), from: &end) == nil)
    }

    @Test("a PING comes with the bytes before it, and no frame is joined over it")
    func pings() {
        let (one, two) = (Self.frame([1]), Self.frame([2]))
        let (ping, other) = (FrameScript.ping(7), FrameScript.ping(8))
        let rows: [(chunks: [[UInt8]], steps: [Step])] = [
            ([ping], [Step(bytes: nil, ping: 7)]),
            ([one + ping + two], [Step(bytes: one, ping: 7), Step(bytes: two)]),
            (
                [one + two + ping + other + one + two],
                [
                    Step(bytes: Self.frame([1, 2]), ping: 7), Step(ping: 8),
                    Step(bytes: Self.frame([1, 2])),
                ]
            ),
            // Split between chunks, in its header and behind it.
            (
                [one + ping.prefix(3), ping.dropFirst(3) + two],
                [Step(bytes: one), Step(ping: 7), Step(bytes: two)]
            ),
            ([ping.prefix(12) + [], ping.dropFirst(12) + two], [Step(ping: 7), Step(bytes: two)]),
            // A header that was held back passes by itself.
            (
                [one.prefix(4) + [], one.dropFirst(4) + two],
                [Step(bytes: Array(one.prefix(9))), Step(bytes: [1] + two)]
            ),
        ]
        for row in rows { #expect(self.steps(row.chunks) == row.steps) }
    }

    @Test("adjacent DATA frames of one stream are one, and no other frames are")
    func adjacent() {
        let (one, two, three) = (Self.frame([1]), Self.frame([2, 2]), Self.frame([3]))
        let other = Self.frame([0, 0, 0, 0], type: 8, stream: 1)
        let rows: [(frames: [[UInt8]], expected: [[UInt8]])] = [
            ([one], [one]),
            ([one, two, three], [Self.frame([1, 2, 2, 3])]),
            ([one, other, two], [one, other, two]),
            ([other, one, two, other], [other, Self.frame([1, 2, 2]), other]),
            ([one, Self.frame([2], stream: 3), three], [one, Self.frame([2], stream: 3), three]),
            (
                [one, two, Self.frame([9], stream: 3), Self.frame([8], stream: 3)],
                [Self.frame([1, 2, 2]), Self.frame([9, 8], stream: 3)]
            ),
            // The end of a stream, padding, and empty frames stay what they are.
            ([one, Self.frame([2], flags: 1)], [one, Self.frame([2], flags: 1)]),
            ([one, Self.frame([0, 2], flags: 8)], [one, Self.frame([0, 2], flags: 8)]),
            ([Self.frame([]), Self.frame([]), one], [Self.frame([]), Self.frame([]), one]),
        ]
        for row in rows {
            #expect(self.joined([row.frames.flatMap { $0 }]) == row.expected.flatMap { $0 })
        }
    }

    @Test("a payload of 4 KiB is joined, one of a byte more stays")
    func payloadLimit() {
        for (count, isJoined) in [(4096, true), (4097, false)] {
            let long = [UInt8](repeating: 7, count: count)
            let frames = Self.frame([1]) + Self.frame(long)
            #expect(self.joined([frames]) == (isJoined ? Self.frame([1] + long) : frames))
        }
    }

    @Test("a joined frame holds 16 KiB at most")
    func joinedLimit() {
        let quarter = [UInt8](repeating: 7, count: 4096)
        let full = [[UInt8]](repeating: quarter, count: 4).flatMap { $0 }
        #expect(
            self.joined([(0..<5).flatMap { _ in Self.frame(quarter) }])
                == Self.frame(full) + Self.frame(quarter))
    }

    @Test("however the bytes are cut into chunks, each stream's bytes come out in their order")
    func anyCuts() throws {
        var generator = Dice(seed: 11)
        for _ in 0..<400 {
            let frames = (0..<Int.random(in: 1...30, using: &generator)).map { number in
                let size = [0, 1, 7, 300, 4096, 5000].randomElement(using: &generator) ?? 1
                return Self.frame(
                    [UInt8](repeating: UInt8(number), count: size),
                    type: UInt8.random(in: 0...4, using: &generator) == 0 ? 8 : 0,
                    stream: Bool.random(using: &generator) ? 1 : 3)
            }
            var rest = frames.flatMap { $0 }[...]
            let expected = Self.contents([UInt8](rest))
            var chunks: [[UInt8]] = []
            while !rest.isEmpty {
                let count = [1, 8, 9, 10, 500, 6000].randomElement(using: &generator) ?? 1
                chunks.append([UInt8](rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Self.contents(self.joined(chunks)) == expected)
        }
    }

    /// What frames say, whatever their bounds: the DATA of each stream, and the other frames.
    private static func contents(_ bytes: [UInt8]) -> [[UInt8]] {
        var contents: [[UInt8]] = [[], [], []]
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = [UInt8](rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let payload = [UInt8](rest.dropFirst(9).prefix(length))
            if head[3] == 0 {
                contents[head[8] == 1 ? 0 : 1] += payload
            } else {
                contents[2] += head + payload
            }
            rest = rest.dropFirst(9 + length)
        }
        return contents + [[UInt8](rest)]
    }
}

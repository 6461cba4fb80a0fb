// Requests that came in one burst, as one message: what is joined, and what comes out of it again.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import NIOEmbedded
internal import NIOHPACK
internal import NIOHTTP2
internal import TestSupport
internal import Testing

@testable internal import HTTP2Edge
@testable internal import TrackingServer

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

    // MARK: What the handler joins

    private let path = "/sightline.v1.TrackingService/StreamEvents"

    /// Bursts of DATA frames in; the DATA frames that the transport gets.
    private func passed(
        _ bursts: [[[UInt8]]], path: String? = nil, encoding: String? = nil, ends: Bool = false
    ) throws -> [[UInt8]] {
        let channel = EmbeddedChannel(handler: RequestCoalescingHandler(path: self.path))
        var headers: HPACKHeaders = [":path": path ?? self.path]
        if let encoding { headers.add(name: "grpc-encoding", value: encoding) }
        channel.pipeline.fireChannelRead(HTTP2Frame.FramePayload.headers(.init(headers: headers)))
        for burst in bursts {
            for frame in burst {
                channel.pipeline.fireChannelRead(Self.data(frame, ends: false))
            }
            channel.pipeline.fireChannelReadComplete()
        }
        if ends { channel.pipeline.fireChannelRead(Self.data([], ends: true)) }
        var passed: [[UInt8]] = []
        while let payload = try channel.readInbound(as: HTTP2Frame.FramePayload.self) {
            guard case .data(let data) = payload, case .byteBuffer(let buffer) = data.data else {
                continue
            }
            passed.append([UInt8](buffer.readableBytesView))
        }
        return passed
    }

    private static func data(_ bytes: [UInt8], ends: Bool) -> HTTP2Frame.FramePayload {
        .data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: ends))
    }

    @Test("a burst of small requests is one message, and each burst has its own")
    func bursts() throws {
        let (one, two, three) = (framed([1]), framed([2, 2]), framed([3]))
        #expect(
            try self.passed([[one, two], [three], [one + two, three]])
                == [framed(one + two), three, framed(one + two + three)])
        #expect(try self.passed([[one + two]]) == [framed(one + two)])
    }

    @Test("what has another path or a message encoding passes through as it came")
    func others() throws {
        let burst = [framed([1]), framed([2])]
        #expect(try self.passed([burst], path: "/grpc.health.v1.Health/Check") == burst)
        #expect(try self.passed([burst], encoding: "gzip") == burst)
        #expect(try self.passed([burst], encoding: "identity") == [framed(burst[0] + burst[1])])
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

    @Test("a stream that the transport closes over a frame gets no frame twice")
    func closedMeanwhile() throws {
        let closer = FirstFrameCloser()
        let channel = EmbeddedChannel(handlers: [RequestCoalescingHandler(path: self.path), closer])
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/closer")).wait()
        let headers: HPACKHeaders = [":path": self.path]
        channel.pipeline.fireChannelRead(HTTP2Frame.FramePayload.headers(.init(headers: headers)))
        for frame in [[0, 0, 0], [0, 9, 1]] as [[UInt8]] {
            channel.pipeline.fireChannelRead(Self.data(frame, ends: false))
        }
        channel.pipeline.fireChannelReadComplete()
        #expect(closer.frames == [[0, 0, 0], [0, 9, 1]])
        #expect(!channel.isActive)
    }

    @Test("a message that is compressed by itself passes through, with what came before it")
    func compressedMessage() throws {
        let compressed = [1] + framed([7]).dropFirst()
        let burst = [framed([1]), framed([2]), compressed]
        #expect(try self.passed([burst]) == burst)
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

/// Closes its channel as the first DATA frame comes.
private final class FirstFrameCloser: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    private(set) var frames: [[UInt8]] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .data(let frame) = self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data
        else { return }
        self.frames.append([UInt8](bytes.readableBytesView))
        if self.frames.count == 1 { context.close(promise: nil) }
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

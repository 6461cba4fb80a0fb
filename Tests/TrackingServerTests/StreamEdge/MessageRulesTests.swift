// What a stream may keep of messages that are not whole, for how long, and how large each may be.
internal import GRPCCore
internal import GRPCProtobuf
internal import NIOCore
internal import NIOEmbedded
internal import NIOHPACK
internal import NIOHTTP2
internal import Testing

@testable internal import TrackingServer

struct MessageRulesTests {
    private typealias Frame = HTTP2Frame.FramePayload

    /// Takes messages one by one, as its test wants them.
    private final class Reader: ChannelDuplexHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundIn = HTTP2Frame.FramePayload

        private(set) var messages = 0
        private(set) var hasEnded = false
        var wanted = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .data(let frame) = self.unwrapInboundIn(data) else { return }
            if frame.data.readableBytes > 0 { self.messages += 1 }
            self.hasEnded = frame.endStream
        }

        func read(context: ChannelHandlerContext) {
            guard self.wanted > 0 else { return }
            self.wanted -= 1
            context.read()
        }
    }

    private let budget = MemoryBudget(hardBytes: 1 << 20, softPercent: 50)

    private func channel(
        _ path: String = TrackingService.streamPath, encoding: String? = nil,
        _ handlers: any ChannelHandler...
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let edge = StreamEdge(
            rules: MessageRules(smallBytes: 1000, timeout: .seconds(30), budget: self.budget),
            metadataLimit: MetadataLimit(maxBytes: 1000), compressors: CompressorBudget(limit: 0))
        try channel.pipeline.syncOperations.addHandler(edge)
        try channel.pipeline.syncOperations.addHandlers(handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var headers: HPACKHeaders = [":path": path]
        if let encoding { headers.add(name: "grpc-encoding", value: encoding) }
        try channel.writeInbound(Frame.headers(.init(headers: headers)))
        return channel
    }

    /// Sends a prefix that says `length`, and so many bytes of its message.
    private func send(
        _ bytes: Int, of length: Int, to channel: EmbeddedChannel, times: Int = 1,
        isEnd: Bool = false
    ) throws {
        var buffer = ByteBuffer()
        for _ in 0..<times {
            buffer.writeInteger(UInt8(0))
            buffer.writeInteger(UInt32(length))
            buffer.writeRepeatingByte(7, count: bytes)
        }
        try channel.writeInbound(Frame.data(.init(data: .byteBuffer(buffer), endStream: isEnd)))
    }

    /// The reason that a call has ended with; nil where it goes on.
    private func reason(_ channel: EmbeddedChannel) throws -> String? {
        guard case .headers(let frame) = try channel.readOutbound(as: Frame.self) else {
            return nil
        }
        var headers = frame.headers
        return EdgeTrailers.addDetails(to: &headers)?.rawValue
    }

    @Test("an unfinished message is counted until it is whole or its stream has gone")
    func counted() throws {
        let channel = try self.channel()
        try self.send(100_000, of: 200_000, to: channel)
        #expect(self.budget.bytesInFlight == 100_005)
        try channel.writeInbound(
            Frame.data(.init(data: .byteBuffer(ByteBuffer(repeating: 7, count: 100_000)))))
        #expect(self.budget.bytesInFlight == 0)
        try self.send(100_000, of: 200_000, to: channel)
        _ = try channel.finish()
        #expect(self.budget.bytesInFlight == 0)
    }

    @Test("so are compressed ones that nobody has taken")
    func countedCompressed() throws {
        let reader = Reader()
        let channel = try self.channel(encoding: "gzip", reader)
        try self.send(40_000, of: 40_000, to: channel, times: 5)
        // The first batch was wanted when the frame came.
        #expect(reader.messages == 2 && self.budget.bytesInFlight == 3 * 40_005)
        reader.wanted = 1
        channel.pipeline.read()
        #expect(reader.messages == 4 && self.budget.bytesInFlight == 40_005)
        _ = try channel.finish()
        #expect(self.budget.bytesInFlight == 0)
    }

    @Test("over the budget's soft limit, who keeps more is refused, and who keeps little is not")
    func refused() throws {
        let channel = try self.channel()
        self.budget.add(self.budget.softBytes)
        try self.send(10_000, of: 200_000, to: channel)
        #expect(try self.reason(channel) == nil && channel.isActive)
        try channel.writeInbound(
            Frame.data(.init(data: .byteBuffer(ByteBuffer(repeating: 7, count: 10_000)))))
        #expect(try self.reason(channel) == "OVERLOADED")
        #expect(!channel.isActive && self.budget.bytesInFlight == self.budget.softBytes)
    }

    @Test("a message that is not whole in its time ends the call", arguments: [nil, "gzip"])
    func time(_ encoding: String?) throws {
        let channel = try self.channel(encoding: encoding)
        try self.send(10, of: 20, to: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(try self.reason(channel) == nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try self.reason(channel) == "MESSAGE_UNFINISHED")
        #expect(!channel.isActive)
    }

    @Test("each message has a time of its own, and silence between them none")
    func times() throws {
        let channel = try self.channel()
        try self.send(10, of: 20, to: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        // The rest of the first, and the beginning of the second.
        var bytes = ByteBuffer(repeating: 7, count: 10)
        bytes.writeBytes([0, 0, 0, 0, 4, 7])
        try channel.writeInbound(Frame.data(.init(data: .byteBuffer(bytes))))
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(try self.reason(channel) == nil)
        try channel.writeInbound(
            Frame.data(.init(data: .byteBuffer(ByteBuffer(repeating: 7, count: 3)))))
        channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
        #expect(try self.reason(channel) == nil && channel.isActive)
        _ = try channel.finish()
    }

    @Test(
        "a message has its method's limit: at it, it passes, and one byte more is refused",
        arguments: [
            (TrackingService.streamPath, 1 << 20), (TrackingService.recordPath, 1 << 20),
            (TrackingService.explainPath, 1 << 20), (TrackingService.inspectPath, 65 << 10),
            ("/grpc.health.v1.Health/Check", 1000), ("/no/such", 1000),
        ])
    func size(_ path: String, _ limit: Int) throws {
        let channel = try self.channel(path)
        try self.send(0, of: limit, to: channel)
        #expect(try self.reason(channel) == nil && channel.isActive)
        _ = try channel.finish()
        let refused = try self.channel(path)
        try self.send(0, of: limit + 1, to: refused)
        #expect(try self.reason(refused) == "REQUEST_TOO_LARGE")
    }

    @Test("the end of a compressed stream comes behind all that its reader had not taken")
    func end() throws {
        let reader = Reader()
        let channel = try self.channel(encoding: "gzip", reader)
        try self.send(40_000, of: 40_000, to: channel, times: 5, isEnd: true)
        #expect(reader.messages == 2 && !reader.hasEnded)
        reader.wanted = 10
        channel.pipeline.read()
        #expect(reader.messages == 5 && reader.hasEnded)
    }
}

// The limits on a stream's buffered bytes, and on the duration and size of its messages.
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import NIOHPACK
internal import NIOHTTP2
internal import Testing
@testable internal import TrackingServer

struct MessageLimitsTests {
    private typealias Frame = HTTP2Frame.FramePayload

    /// Takes messages one by one, as its test wants them.
    private final class Reader: ChannelDuplexHandler {
        typealias InboundIn = HTTP2Frame.FramePayload
        typealias OutboundIn = HTTP2Frame.FramePayload

        private(set) var messages = 0
        private(set) var hasEnded = false
        /// Whether the read in which the end came is complete: real readers wait for that.
        private(set) var hasAllEnded = false
        var wanted = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .data(let frame) = self.unwrapInboundIn(data),
                case .byteBuffer(let bytes) = frame.data
            else { return }
            if bytes.readableBytes > 0 { self.messages += Self.requests(in: bytes) }
            self.hasEnded = frame.endStream
        }

        /// How many requests a message is, which the edge may have joined.
        private static func requests(in message: ByteBuffer) -> Int {
            message.withUnsafeReadableBytes { bytes in
                let body = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(5))
                return LengthPrefixedMessages.count(in: body) ?? 1
            }
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            self.hasAllEnded = self.hasEnded
            context.fireChannelReadComplete()
        }

        func read(context: ChannelHandlerContext) {
            guard self.wanted > 0 else { return }
            self.wanted -= 1
            context.read()
        }
    }

    private let buffered = BufferedBytes(maxBytes: 1 << 20)
    /// The one that calls come on, if their test names no other.
    private let connection = ConnectionShares()

    private func channel(
        _ path: String = TrackingService.streamPath, encoding: String? = nil,
        fields: HPACKHeaders = [:], on connection: ConnectionShares? = nil,
        _ handlers: any ChannelHandler...
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        var configuration = EdgeConfiguration()
        configuration.smallMessageBytes = 1000
        let edge = StreamEdge(
            limits: MessageLimits(
                configuration, streamPath: TrackingService.streamPath,
                methodBytes: TrackingService.messageBytes, buffered: self.buffered),
            metadataLimit: MetadataLimit(maxBytes: 1000), compressors: CompressorBudget(limit: 0),
            connection: connection ?? self.connection, termination: EdgeTrailers.termination())
        try channel.pipeline.syncOperations.addHandler(edge)
        try channel.pipeline.syncOperations.addHandlers(handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var headers: HPACKHeaders = [":path": path]
        if let encoding { headers.add(name: "grpc-encoding", value: encoding) }
        headers.add(contentsOf: fields)
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

    /// Sends bytes of a message that has begun.
    private func send(_ bytes: Int, to channel: EmbeddedChannel) throws {
        let bytes = ByteBuffer(repeating: 7, count: bytes)
        try channel.writeInbound(Frame.data(.init(data: .byteBuffer(bytes))))
    }

    /// The reason of the call's end; nil if it continues.
    private func reason(_ channel: EmbeddedChannel) throws -> String? {
        guard case .headers(let frame) = try channel.readOutbound(as: Frame.self) else {
            return nil
        }
        var headers = frame.headers
        return EdgeTrailers.addDetails(to: &headers)?.rawValue
    }

    /// The call that a channel's head was passed on as.
    private func call(_ channel: EmbeddedChannel) throws -> BufferedCall? {
        guard case .headers(let head) = try channel.readInbound(as: Frame.self) else { return nil }
        guard let number = head.headers["sightline-call"].first else { return nil }
        #expect(head.headers["sightline-call"].count == 1)
        return self.buffered.call(["sightline-call": .string(number)])
    }

    private static let freeBytes = BufferedCall.freeBytes

    @Test("what comes of a stream beyond 16 KiB counts until it is taken, whole or not")
    func counted() throws {
        let channel = try self.channel()
        let call = try #require(try self.call(channel))
        try self.send(100_000, of: 200_000, to: channel)
        #expect(self.buffered.count == 100_005 - Self.freeBytes && call.count == 100_005)
        try self.send(100_000, to: channel)
        #expect(self.buffered.count == 200_005 - Self.freeBytes)
        call.take(150_000)
        #expect(self.buffered.count == 50_005 - Self.freeBytes)
        call.take(50_010)
        #expect(self.buffered.count == 0 && call.count == 0, "never more than there is")
        try self.send(100_000, of: 200_000, to: channel)
        _ = try channel.finish()
        #expect(self.buffered.count == 0 && self.buffered.call(["sightline-call": "1"]) == nil)
    }

    @Test("a unary call's message counts until the call has ended")
    func countedUnary() throws {
        let channel = try self.channel(TrackingService.recordPath)
        let call = try #require(try self.call(channel))
        try self.send(100_000, of: 100_000, to: channel)
        #expect(self.buffered.count == 100_005 - Self.freeBytes && call.count == 100_005)
        try channel.writeOutbound(
            Frame.headers(.init(headers: ["grpc-status": "0"], endStream: true)))
        #expect(self.buffered.count == 0 && self.buffered.call(["sightline-call": "1"]) == nil)
    }

    @Test("a client's own number of a call is not believed")
    func forged() throws {
        let first = try self.channel()
        let second = try self.channel(fields: ["sightline-call": "1"])
        let (one, other) = (try #require(try self.call(first)), try #require(try self.call(second)))
        #expect(one !== other)
    }

    @Test("inflated messages wait until they are taken, and compressed ones besides")
    func countedCompressed() throws {
        let reader = Reader()
        let channel = try self.channel(encoding: "gzip", reader)
        try self.send(40_000, of: 40_000, to: channel, times: 5)
        // The first batch was passed on at once, because there was demand.
        #expect(reader.messages == 2 && self.buffered.count == 5 * 40_005 - Self.freeBytes)
        let call = try #require(self.buffered.call(["sightline-call": "1"]))
        call.take(2 * 40_005)
        reader.wanted = 1
        channel.pipeline.read()
        #expect(reader.messages == 4 && self.buffered.count == 3 * 40_005 - Self.freeBytes)
        _ = try channel.finish()
        #expect(self.buffered.count == 0)
    }

    @Test("who keeps over 16 KiB is refused where more waits than may", arguments: [0, 1])
    func refused(_ beyond: Int) throws {
        let (other, channel) = (try self.channel(), try self.channel())
        try self.send(900_000, of: 1 << 20, to: other)
        let left = self.buffered.maxBytes - self.buffered.count
        try self.send(Self.freeBytes - 5, of: 1 << 20, to: channel)
        #expect(self.buffered.maxBytes - self.buffered.count == left, "as many do not count")
        try self.send(left + beyond, to: channel)
        #expect(try self.reason(channel) == (beyond == 0 ? nil : "OVERLOADED"))
        #expect(channel.isActive == (beyond == 0) && other.isActive)
    }

    /// Fills a connection's share with calls of a tenant, or of a stranger, and gives those that
    /// were taken. Each holds 83,621 bytes over 16 KiB.
    private func fill(
        _ connection: ConnectionShares, of tenant: String? = nil
    ) throws -> [EmbeddedChannel] {
        var channels: [EmbeddedChannel] = []
        while true {
            let channel = try self.channel(on: connection)
            let call = try #require(try self.call(channel))
            if let tenant { call.assign(to: tenant.utf8) }
            try self.send(100_000, of: 1 << 20, to: channel)
            guard try self.reason(channel) == nil else { return channels }
            channels.append(channel)
        }
    }

    /// Whether a new call may hold so many bytes over 16 KiB.
    private func isTaken(
        _ bytes: Int, on connection: ConnectionShares, of tenant: String
    ) throws -> Bool {
        let channel = try self.channel(on: connection)
        try #require(try self.call(channel)).assign(to: tenant.utf8)
        try self.send(Self.freeBytes - 5 + bytes, of: 1 << 20, to: channel)
        guard try self.reason(channel) == nil else { return false }
        _ = try channel.finish()
        return true
    }

    @Test("a tenant with many connections leaves another its half, at the limit and not beyond")
    func tenants() throws {
        let half = self.buffered.maxBytes / 2
        let hogs = try (0..<3).flatMap { _ in try self.fill(ConnectionShares(), of: "loud") }
        #expect(self.buffered.count > self.buffered.maxBytes)
        #expect(self.buffered.count < self.buffered.maxBytes / 4 * 5)
        #expect(try self.isTaken(half, on: ConnectionShares(), of: "quiet"))
        #expect(try !self.isTaken(half + 1, on: ConnectionShares(), of: "quiet"))
        #expect(try !self.isTaken(half, on: ConnectionShares(), of: "loud"))
        for hog in hogs { _ = try hog.finish() }
        #expect(self.buffered.count == 0)
    }

    @Test("beside connections that take what they can, one more of their tenant has its part")
    func connections() throws {
        let hogs = try (0..<2).flatMap { _ in try self.fill(ConnectionShares(), of: "loud") }
        // A quarter of the third part.
        let part = self.buffered.maxBytes / 12
        #expect(try self.isTaken(part, on: ConnectionShares(), of: "loud"))
        #expect(try !self.isTaken(part + 1, on: ConnectionShares(), of: "loud"))
        for hog in hogs { _ = try hog.finish() }
        #expect(self.buffered.count == 0)
    }

    @Test("strangers of one address leave those of another their half")
    func strangers() throws {
        let calls = try [[1], [1], [2]].map { try self.fill(ConnectionShares(peer: $0)) }
        // An eighth of the bound is one call, and a half are six.
        #expect(calls.map(\.count) == [12, 1, 6])
        for call in calls.joined() { _ = try call.finish() }
        #expect(self.buffered.count == 0)
    }

    @Test("a call's bytes are its tenant's once that is known, also those that came before")
    func assigned() throws {
        let channel = try self.channel()
        let call = try #require(try self.call(channel))
        try self.send(100_000, of: 200_000, to: channel)
        call.assign(to: "quiet".utf8)
        try self.send(100_000, to: channel)
        #expect(self.buffered.count == 200_005 - Self.freeBytes)
        for taken in [50_000, 50_000] { call.take(taken) }
        #expect(self.buffered.count == 100_005 - Self.freeBytes)
        // Nothing of it counts as a stranger's: of two tenants this one has its half.
        let hogs = try self.fill(ConnectionShares(), of: "loud")
        let left = self.buffered.maxBytes / 2 - 83_621
        #expect(try self.isTaken(left, on: ConnectionShares(), of: "quiet"))
        #expect(try !self.isTaken(left + 1, on: ConnectionShares(), of: "quiet"))
        for channel in hogs + [channel] { _ = try channel.finish() }
        #expect(self.buffered.count == 0)
        // Later calls of the connection are that tenant's from their first byte: strangers, who
        // have used up the bound, leave them its half.
        let later = try self.fill(ConnectionShares(peer: [1]))
        #expect(later.count == 12)
        #expect(try self.fill(self.connection).count == 6)
        for stranger in later { _ = try stranger.finish() }
    }

    @Test("what comes behind a call's answer is read and dropped, but for its end")
    func dropped() throws {
        let reader = Reader()
        let channel = try self.channel(fields: [:], reader)
        try channel.writeOutbound(
            Frame.headers(.init(headers: ["grpc-status": "0"], endStream: true)))
        try self.send(1000, of: 1000, to: channel)
        #expect(reader.messages == 0 && !reader.hasEnded && self.buffered.count == 0)
        try self.send(1000, of: 1000, to: channel, isEnd: true)
        #expect(reader.messages == 0 && reader.hasEnded)
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

    @Test(
        "what is no stream of events has to be sent in that time from its head, to its end",
        arguments: [0, 1000])
    func unaryTime(_ bytes: Int) throws {
        for (isEnd, reason) in [(false, "MESSAGE_UNFINISHED"), (true, nil)] {
            let channel = try self.channel(TrackingService.recordPath)
            if bytes > 0 || isEnd { try self.send(bytes, of: bytes, to: channel, isEnd: isEnd) }
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(try self.reason(channel) == nil)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(try self.reason(channel) == reason)
        }
        let stream = try self.channel()
        stream.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(try self.reason(stream) == nil)
    }

    @Test("an answer over 16 KiB counts until it has gone, and one too many ends its call")
    func answers() throws {
        let channel = try self.channel()
        func answer(_ bytes: Int) -> EventLoopFuture<Void> {
            let bytes = ByteBuffer(repeating: 7, count: bytes)
            return channel.write(Frame.data(.init(data: .byteBuffer(bytes))))
        }
        _ = answer(Self.freeBytes)
        #expect(self.buffered.count == 0)
        _ = answer(1 << 20)
        #expect(self.buffered.count == 1 << 20)
        channel.flush()
        #expect(self.buffered.count == 0)
        for _ in 0..<2 { _ = try channel.readOutbound(as: Frame.self) }
        _ = answer((1 << 19) + 1)
        #expect(self.buffered.count == 1 << 20, "the memory that it takes")
        let last = answer(Self.freeBytes + 1)
        #expect(throws: ChannelError.self) { try last.wait() }
        #expect(!channel.isActive && self.buffered.count == 0)
    }

    @Test("each message has a time of its own, and silence between them none")
    func times() throws {
        let channel = try self.channel()
        try self.send(10, of: 20, to: channel)
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        // The rest of the first message, and the beginning of the second.
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
        #expect(reader.messages == 5 && reader.hasEnded && reader.hasAllEnded)
    }

    @Test(
        "a stream that has inflated its 256 KiB rests, so that others have their turn",
        arguments: [(1 << 16, 5, 4), (0, 2049, 2048), (1 << 18, 1, 1)])
    func turns(_ bytes: Int, _ messages: Int, _ ofFirstTurn: Int) throws {
        let reader = Reader()
        let channel = try self.channel(encoding: "gzip", reader)
        reader.wanted = .max
        try self.send(bytes, of: bytes, to: channel, times: messages, isEnd: true)
        #expect(reader.messages == ofFirstTurn)
        channel.embeddedEventLoop.advanceTime(by: StreamEdge.rest - .nanoseconds(1))
        #expect(reader.messages == ofFirstTurn && !reader.hasEnded)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(reader.messages == messages && reader.hasAllEnded)
    }
}

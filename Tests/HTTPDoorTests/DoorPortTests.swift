// The handlers of a connection to the HTTP port, without a socket.
@testable internal import HTTP2Edge
@testable internal import HTTPDoor
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import Synchronization
internal import Testing

/// Takes no request, and keeps the paths that it was asked about.
private final class AskedDoor: DoorHandler {
    private let kept = Mutex<[String]>([])

    var paths: [String] { self.kept.withLock { $0 } }

    func takes(_ request: DoorRequest) -> Bool {
        self.kept.withLock { $0.append(request.path) }
        return false
    }

    func answer(_ request: DoorRequest) async -> DoorResponse { DoorResponse(status: .ok) }
}

/// Holds what is written until it is opened, as a peer that reads nothing.
private final class Dam: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny
    typealias OutboundOut = NIOAny

    /// Opens it.
    struct Opening: Sendable {}

    private var isOpen = false
    private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

    func handlerRemoved(context: ChannelHandlerContext) {
        for (_, promise) in self.held { promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if self.isOpen { return context.write(data, promise: promise) }
        self.held.append((data, promise))
    }

    func flush(context: ChannelHandlerContext) { if self.isOpen { context.flush() } }

    func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        guard event is Opening else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        self.isOpen = true
        for (data, promise) in self.held { context.write(data, promise: promise) }
        self.held = []
        context.flush()
        promise?.succeed(())
    }
}

struct DoorPortTests {
    private func port(
        _ doors: DoorSwitch = DoorSwitch([]),
        count: @escaping @Sendable (DoorTally) -> Void = { _ in }
    ) -> DoorPort {
        DoorPort(
            configuration: HTTPConfiguration(), doors: doors,
            limits: MessageLimits(
                EdgeConfiguration(), streamPath: "", methodBytes: [:],
                buffered: BufferedBytes(maxBytes: 1 << 20)),
            admission: ConnectionAdmission(
                ConnectionConfiguration(),
                ends: ConnectionEnds(logger: Logger(label: "test")), open: OpenConnections()),
            tls: nil, count: count)
    }

    @Test(
        "the first header fields have http.header_seconds from accept, wherever bytes of them come",
        arguments: ["", "P", "GET / HTTP/1.1\r\nHost: a"])
    func headerTimeout(_ sent: String) throws {
        let channel = EmbeddedChannel()
        try self.port().accept(channel)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        if !sent.isEmpty { try channel.writeInbound(ByteBuffer(string: sent)) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1) - .nanoseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test(
        "a connection ends http.idle_seconds after its last answer, whatever timer was set before")
    func idleTimeout() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext { try self.port().accept(channel) }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        for _ in 0..<3 {
            try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            let answer = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
            #expect(String(buffer: answer).hasPrefix("HTTP/1.1 404"))
            await channel.testingEventLoop.advanceTime(by: .seconds(60) - .nanoseconds(1))
            #expect(channel.isActive)
            while try await channel.readOutbound(as: ByteBuffer.self) != nil {}
        }
        await channel.testingEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test("a body has http.body_seconds from its header fields, also behind another request")
    func bodyTimeout() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext { try self.port().accept(channel) }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
        try await channel.writeInbound(ByteBuffer(string: head + "123456789" + head + "1"))
        let first = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: first).hasPrefix("HTTP/1.1 404"))
        while try await channel.readOutbound(as: ByteBuffer.self) != nil {}
        await channel.testingEventLoop.advanceTime(by: .seconds(30) - .nanoseconds(1))
        #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
        await channel.testingEventLoop.advanceTime(by: .nanoseconds(1))
        let late = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: late).hasPrefix("HTTP/1.1 408"))
    }

    @Test(
        "at its age a connection ends, and with a request after connections.grace_seconds at most",
        arguments: [false, true])
    func age(_ isBusy: Bool) throws {
        var ends: [ConnectionEnd] = []
        let channel = EmbeddedChannel(
            handler: HTTP1Handler(
                HTTPConfiguration(), deadline: .uptimeNanoseconds(0) + .seconds(60),
                maxAge: .seconds(9), grace: .seconds(3), onEnd: { ends.append($0) },
                count: { _ in }))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        if isBusy {
            try channel.writeInbound(
                HTTPServerRequestPart.head(
                    HTTPRequestHead(
                        version: .http1_1, method: .POST, uri: "/", headers: ["Host": "a"])))
        }
        let loop = channel.embeddedEventLoop
        loop.advanceTime(by: .seconds(9) - .nanoseconds(1))
        #expect(channel.isActive && ends == [])
        loop.advanceTime(by: .nanoseconds(1))
        #expect(channel.isActive == isBusy && ends == [.age])
        loop.advanceTime(by: .seconds(3) - .nanoseconds(1))
        #expect(channel.isActive == isBusy)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive && ends == (isBusy ? [.age, .unanswered] : [.age]))
    }

    @Test(
        "a HEAD that is refused gets the length of the words, and not the words",
        arguments: ["HEAD", "GET"])
    func refusedHead(_ method: String) throws {
        let sent = Mutex<[Int]>([])
        let channel = EmbeddedChannel()
        try self.port { tally in sent.withLock { $0.append(tally.sentBytes) } }.accept(channel)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(string: "\(method) / HTTP/1.1\r\n\r\n"))
        var answer = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) {
            answer += String(buffer: part)
        }
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains("content-length: "))
        #expect(!answer.contains("content-length: 0"))
        #expect(answer.hasSuffix("\r\n\r\n") == (method == "HEAD"))
        #expect(sent.withLock { $0.map { $0 > 0 } } == [method != "HEAD"])
    }

    @Test(
        "a request behind an answer begins once that is taken, if the channel takes no more bytes",
        arguments: [("GET", true), ("GET", false), ("HEAD", true), ("HEAD", false)])
    func unreadAnswers(_ method: String, _ isWritable: Bool) async throws {
        let door = AskedDoor()
        let (answers, answered) = AsyncStream.makeStream(of: Void.self)
        let port = self.port(DoorSwitch([.init(.other, door)])) { _ in answered.yield() }
        let channel = NIOAsyncTestingChannel()
        channel.isWritable = isWritable
        let loop = channel.testingEventLoop
        try await loop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(Dam())
            try port.accept(channel)
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        let requests = ["/1", "/2"].map { "\(method) \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
        try await channel.writeInbound(ByteBuffer(string: requests.joined()))
        var answer = answers.makeAsyncIterator()
        _ = await answer.next()
        // It is counted before its end is written.
        try await loop.executeInContext {}
        #expect(door.paths == (isWritable ? ["/1", "/2"] : ["/1"]))
        try await channel.triggerUserOutboundEvent(Dam.Opening())
        _ = await answer.next()
        #expect(door.paths == ["/1", "/2"])
        try await channel.close()
    }
}

// A guard in a channel whose clock a test advances.
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded

/// A guard between a peer and a transport that only records.
final class GuardedConnection {
    let channel: EmbeddedChannel
    /// Why the guard ended the connection.
    private(set) var ends: [ConnectionEnd] = []
    private let transport = Transport()

    init(_ configure: (inout ConnectionConfiguration) -> Void = { _ in }) throws {
        var configuration = ConnectionConfiguration()
        configure(&configuration)
        self.channel = EmbeddedChannel()
        let handler = ConnectionGuard(configuration, maxAge: .init(configuration.maxAge)) {
            [unowned self] in self.ends.append($0)
        }
        try self.channel.pipeline.syncOperations.addHandlers([handler, self.transport])
        try self.channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// A connection whose peer has sent preface and SETTINGS.
    static func greeted(
        _ configure: (inout ConnectionConfiguration) -> Void = { _ in }
    ) throws -> GuardedConnection {
        let connection = try GuardedConnection(configure)
        try connection.receive(FrameScript.greeted.bytes)
        _ = try connection.passedOn()
        return connection
    }

    /// How often the streams were told to end.
    var toldStreams: Int { self.transport.quiesceEvents }
    var isOpen: Bool { self.channel.isActive }

    /// Receives bytes from the peer.
    func receive(_ bytes: [UInt8]) throws {
        try self.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    /// Sends bytes from the transport.
    func send(_ bytes: [UInt8]) throws {
        try self.channel.writeOutbound(ByteBuffer(bytes: bytes))
    }

    /// A stream is opened: a channel whose end the guard sees.
    func openStream() throws -> EmbeddedChannel {
        let stream = EmbeddedChannel(loop: self.channel.embeddedEventLoop)
        let handler = try self.channel.pipeline.syncOperations.handler(type: ConnectionGuard.self)
        handler.streamOpened(stream)
        return stream
    }

    /// The bytes that the transport got since the last call.
    func passedOn() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try self.channel.readInbound(as: ByteBuffer.self) {
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// The bytes that the peer got since the last call.
    func sent() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    func wait(_ time: TimeAmount) { self.channel.embeddedEventLoop.advanceTime(by: time) }

    private final class Transport: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        var quiesceEvents = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { self.quiesceEvents += 1 }
            context.fireUserInboundEventTriggered(event)
        }
    }
}

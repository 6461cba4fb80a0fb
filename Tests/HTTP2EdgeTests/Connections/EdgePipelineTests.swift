// Which handlers stand in front of the gRPC library, and in which order.
internal import GRPCNIOTransportHTTP2Posix
@testable internal import HTTP2Edge
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing
@testable internal import TrackingServer

struct EdgePipelineTests {
    /// Stands for what the transport has put into the channel before.
    private final class Transport: ChannelInboundHandler {
        typealias InboundIn = Any
    }

    private func config(maxConnections: Int = 1) -> HTTP2ServerTransport.Posix.Config {
        var connections = ConnectionConfiguration()
        connections.maxCount = maxConnections
        let pipeline = EdgePipeline(
            EdgeConfiguration(),
            connections: ConnectionAdmission(
                connections, ends: ConnectionEnds(logger: Logger(label: "test")) { _ in },
                open: OpenConnections()),
            messageLimits: MessageLimits(
                EdgeConfiguration(), streamPath: TrackingService.streamPath,
                methodBytes: TrackingService.messageBytes,
                buffered: BufferedBytes(maxBytes: 1 << 20)),
            termination: EdgeTrailers.termination())
        return .defaults { pipeline.install(in: &$0) }
    }

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: Transport())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    /// The handlers that NIO names, from the socket inwards.
    private func handlers(of channel: EmbeddedChannel) -> [String] {
        let text = channel.pipeline.debugDescription
        let names = [
            "ConnectionGuard", "FirstBytesHandler", "RefusingHandler", "StreamEdge",
            "UnreadAnswersHandler", "Transport",
        ]
        return names.compactMap { name in text.firstRange(of: name).map { ($0.lowerBound, name) } }
            .sorted { $0.0 < $1.0 }
            .map(\.1)
    }

    @Test("a connection is guarded before the transport")
    func connection() throws {
        let (config, channel) = (self.config(), try self.channel())
        try config.channelDebuggingCallbacks.onAcceptTCPConnection?(channel).wait()
        #expect(
            self.handlers(of: channel) == ["FirstBytesHandler", "ConnectionGuard", "Transport"])
    }

    @Test("a connection beyond the limit is refused, with nothing else in front of the transport")
    func refusedConnection() throws {
        let config = self.config()
        let guarded = ["FirstBytesHandler", "ConnectionGuard", "Transport"]
        for handlers in [guarded, ["RefusingHandler", "Transport"]] {
            let channel = try self.channel()
            try config.channelDebuggingCallbacks.onAcceptTCPConnection?(channel).wait()
            #expect(self.handlers(of: channel) == handlers)
        }
    }

    @Test("a stream has its edge first, then the watch over its answers")
    func stream() throws {
        let (config, channel) = (self.config(), try self.channel())
        try config.channelDebuggingCallbacks.onAcceptHTTP2Stream?(channel).wait()
        #expect(self.handlers(of: channel) == ["StreamEdge", "UnreadAnswersHandler", "Transport"])
    }
}

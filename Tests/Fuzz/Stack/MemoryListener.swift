// A listener without a socket: the fuzzer creates its connections.
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import NIOEmbedded

/// The transport's listener. `@unchecked Sendable`: everything runs on one thread.
final class MemoryListener: HTTP2ServerTransport.ListenerFactory, @unchecked Sendable {
    private typealias Connection = HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel

    let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel
    private var configurator: HTTP2ServerTransport.ConnectionConfigurator?

    init() { self.channel = EmbeddedChannel(loop: self.loop) }

    var eventLoopGroup: any EventLoopGroup { self.loop }

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<
        HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel, Never
    > {
        self.configurator = connectionConfigurator
        self.channel.connect(to: try Self.address(port: 1), promise: nil)
        return try NIOAsyncChannel(wrappingChannelSynchronously: self.channel)
    }

    /// A connection from the loopback address, as the transport accepts it.
    func connect() throws -> EmbeddedChannel {
        guard let configurator else { fatalError("the transport does not listen") }
        let channel = EmbeddedChannel(loop: self.loop)
        let address = try Self.address(port: 40_000)
        channel.remoteAddress = address
        var failure: (any Error)?
        configurator.configure(channel: channel, tls: .none).assumeIsolated().whenComplete {
            switch $0 {
            case .success(let connection):
                self.channel.pipeline.fireChannelRead(connection)
                self.channel.pipeline.fireChannelReadComplete()
            case .failure(let error): failure = error
            }
        }
        self.loop.run()
        if let failure { throw failure }
        // The accepted connection also reaches the pipeline's end, which would keep it.
        while try self.channel.readInbound(as: Connection.self) != nil {}
        try channel.pipeline.syncOperations.addHandler(WireEnd(), position: .first)
        channel.connect(to: address, promise: nil)
        return channel
    }

    private static func address(port: Int) throws -> NIOCore.SocketAddress {
        try NIOCore.SocketAddress(ipAddress: "127.0.0.1", port: port)
    }
}

/// Completes writes like a socket: on flush, or with an error on close.
private final class WireEnd: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private var pending: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let promise { self.pending.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {
        let flushed = self.pending
        self.pending = []
        for promise in flushed { promise.succeed() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let failed = self.pending
        self.pending = []
        for promise in failed { promise.fail(ChannelError.ioOnClosedChannel) }
        context.fireChannelInactive()
    }
}

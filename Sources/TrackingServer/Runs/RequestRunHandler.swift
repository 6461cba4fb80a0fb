// Joins small requests that come in one burst, before the transport takes each through its own
// buffers, locks and task switches. Measured: see the commit that added it.
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Stands in front of the transport's handler in each HTTP/2 stream. DATA frames that hold nothing
/// but whole, uncompressed messages are collected until the burst is over, and passed on as one
/// message (`RequestRun`). All else passes through as it came, in its order.
final class RequestRunHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    /// A message of more bytes passes through: copying it would cost more than it saves.
    private static let maxMessageBytes = 8 << 10
    /// A run has at most so many bytes.
    private static let maxRunBytes = 64 << 10

    private let path: String
    private var isCollecting = false
    private var boundary = MessageBoundary()
    private var frames: [ByteBuffer] = []
    private var bytes = 0
    private var messages = 0

    /// A handler that collects the requests of the method at `path`.
    init(path: String) { self.path = path }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let payload = self.unwrapInboundIn(data)
        switch payload {
        case .headers(let headers):
            self.isCollecting = self.collects(headers.headers)
        case .data(let data):
            if self.isCollecting, self.collect(data, context) { return }
        default: break
        }
        self.passRun(context)
        context.fireChannelRead(self.wrapInboundOut(payload))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.passRun(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.passRun(context)
        context.fireChannelInactive()
    }

    /// Runs are made for one method: what others send stays as it is. With a message encoding, a
    /// run would have to be compressed too.
    private func collects(_ headers: HPACKHeaders) -> Bool {
        let encoding = headers.first(name: "grpc-encoding") ?? "identity"
        return headers.first(name: ":path") == self.path && encoding == "identity"
    }

    /// Collects a frame; false where it has to pass through.
    private func collect(
        _ data: HTTP2Frame.FramePayload.Data, _ context: ChannelHandlerContext
    ) -> Bool {
        guard case .byteBuffer(let frame) = data.data else { return false }
        let count = frame.readableBytes
        let canBegin = self.boundary.isAtStart && !data.endStream && count <= Self.maxRunBytes
        let messages = frame.withUnsafeReadableBytes { bytes in
            canBegin
                ? LengthPrefixedMessages.count(in: bytes, maxBytes: Self.maxMessageBytes) : nil
        }
        guard let messages else {
            frame.withUnsafeReadableBytes { self.boundary.advance(over: $0) }
            return false
        }
        if self.bytes + count > Self.maxRunBytes { self.passRun(context) }
        self.frames.append(frame)
        self.bytes += count
        self.messages += messages
        return true
    }

    /// Passes on what was collected: a single message as it came, more as one.
    private func passRun(_ context: ChannelHandlerContext) {
        guard var run = self.frames.first else { return }
        if self.messages > 1 {
            run = context.channel.allocator.buffer(
                capacity: LengthPrefixedMessages.prefixBytes + self.bytes)
            run.writeInteger(0, as: UInt8.self)
            run.writeInteger(UInt32(self.bytes))
            for frame in self.frames { run.writeImmutableBuffer(frame) }
        }
        self.frames.removeAll(keepingCapacity: true)
        (self.bytes, self.messages) = (0, 0)
        context.fireChannelRead(self.wrapInboundOut(.data(.init(data: .byteBuffer(run)))))
    }
}

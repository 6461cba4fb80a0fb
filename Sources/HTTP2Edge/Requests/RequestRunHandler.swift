// Joins requests that come in one burst, before the transport takes each through its own buffers,
// locks and task switches. Measured: see the commits that added it and made it take larger ones.
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Stands in front of the transport's handler in each HTTP/2 stream. Whole, uncompressed messages
/// are collected until the burst is over, and passed on as one message (`RequestRun`). All else
/// passes through as it came, in its order: so does a message of which a part is still to come, as
/// a frame that waited for it would keep the whole buffer that it was read into.
final class RequestRunHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    /// A message of more bytes passes through: its own work is far more than joining saves.
    private static let maxMessageBytes = 64 << 10
    /// A run that has as many bytes is passed on: it has less than these and a message's.
    private static let fullRunBytes = 256 << 10

    private let path: String
    private var isCollecting = false
    /// What has come of the messages that begin in the collected frames.
    private var messages = MessageCounter(maxBytes: RequestRunHandler.maxMessageBytes)
    private var frames: [ByteBuffer] = []

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
        self.passAll(context)
        context.fireChannelRead(self.wrapInboundOut(payload))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.passAll(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.passAll(context)
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
        guard !data.endStream, case .byteBuffer(let frame) = data.data else { return false }
        let isBegun = self.frames.isEmpty && !self.messages.isAtStart
        let isFit = frame.withUnsafeReadableBytes { self.messages.advance(over: $0) }
        guard isFit, !isBegun else {
            self.messages.forget()
            self.passFrames(context)
            return false
        }
        self.frames.append(frame)
        if self.messages.bytes >= Self.fullRunBytes { self.passRun(context) }
        return true
    }

    /// Passes on all that was collected.
    private func passAll(_ context: ChannelHandlerContext) {
        self.passRun(context)
        self.passFrames(context)
    }

    /// Passes on the whole messages: a single one as it came, more as one.
    private func passRun(_ context: ChannelHandlerContext) {
        let (messages, bytes) = (self.messages.count, self.messages.bytes)
        self.messages.forget()
        let frames = self.takeFrames(bytes)
        if messages > 1 {
            var run = context.channel.allocator.buffer(
                capacity: LengthPrefixedMessages.prefixBytes + bytes)
            run.writeInteger(0, as: UInt8.self)
            run.writeInteger(UInt32(bytes))
            for frame in frames { run.writeImmutableBuffer(frame) }
            self.pass(run, context)
        } else {
            for frame in frames { self.pass(frame, context) }
        }
    }

    /// Takes the first bytes out of the frames; the one in which they end is cut.
    private func takeFrames(_ bytes: Int) -> [ByteBuffer] {
        var left = bytes
        var end = 0
        while end < self.frames.count, self.frames[end].readableBytes <= left {
            left -= self.frames[end].readableBytes
            end += 1
        }
        var taken = Array(self.frames[..<end])
        self.frames.removeFirst(end)
        if left > 0, !self.frames.isEmpty, let part = self.frames[0].readSlice(length: left) {
            taken.append(part)
        }
        return taken
    }

    /// Passes on the frames as they came.
    private func passFrames(_ context: ChannelHandlerContext) {
        // Gone before they are passed: the transport may close the stream meanwhile, which passes
        // on what is left. And a silent stream keeps no room for frames.
        let frames = self.frames
        self.frames = []
        for frame in frames { self.pass(frame, context) }
    }

    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.fireChannelRead(self.wrapInboundOut(.data(.init(data: .byteBuffer(bytes)))))
    }
}

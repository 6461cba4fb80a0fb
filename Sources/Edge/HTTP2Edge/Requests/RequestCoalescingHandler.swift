internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Joins the requests of a burst in each HTTP/2 stream, before the transport spends buffers, locks
/// and task switches on each. Complete, uncompressed messages are collected until the burst ends
/// and passed on as one (`CoalescedRequests`). Everything else passes unchanged, in order. So does
/// an incomplete message: holding its frames would keep the whole read buffer alive.
final class RequestCoalescingHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    /// Larger messages are not joined: their own cost far exceeds what joining saves.
    private static let maxMessageBytes = 64 << 10
    /// A run is passed on once it has this many bytes.
    private static let fullRunBytes = 256 << 10

    private let path: String
    private var isCollecting = false
    /// The messages in the collected frames.
    private var messages = MessageCounter(maxBytes: RequestCoalescingHandler.maxMessageBytes)
    private var frames: [ByteBuffer] = []

    /// Creates a handler that joins the requests of the method at `path`.
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

    /// Whether to collect: runs are made for one method only, and never for compressed messages,
    /// where the run would have to be compressed too.
    private func collects(_ headers: HPACKHeaders) -> Bool {
        let encoding = headers.first(name: "grpc-encoding") ?? "identity"
        return headers.first(name: ":path") == self.path && encoding == "identity"
    }

    /// Collects a frame; false if it must pass on its own.
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

    /// Passes on everything collected.
    private func passAll(_ context: ChannelHandlerContext) {
        self.passRun(context)
        self.passFrames(context)
    }

    /// Passes on the complete messages: a single one unchanged, several as a run.
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

    /// Removes the first `bytes` bytes from the frames, splitting the last frame.
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

    /// Passes on the collected frames unchanged.
    private func passFrames(_ context: ChannelHandlerContext) {
        // Cleared first: the transport may close the stream meanwhile, which flushes what is left.
        // It also frees the array's memory while the stream is silent.
        let frames = self.frames
        self.frames = []
        for frame in frames { self.pass(frame, context) }
    }

    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        context.fireChannelRead(self.wrapInboundOut(.data(.init(data: .byteBuffer(bytes)))))
    }
}

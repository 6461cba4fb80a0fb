internal import NIOCore
internal import NIOHTTP2

extension StreamEdge {
    /// Writes a frame of an answer. A large one counts as buffered until it is written; if too much
    /// waits, its call ends and the client retries. The library holds no more small ones than a
    /// channel's high-water mark. Memory is counted: an answer takes up to twice its bytes.
    func write(
        _ frame: HTTP2Frame.FramePayload.Data, _ data: NIOAny,
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        guard case .byteBuffer(let bytes) = frame.data,
            bytes.readableBytes > BufferedCall.freeBytes
        else {
            context.write(data, promise: promise)
            return
        }
        let byteCount = bytes.storageCapacity
        let buffered = self.limits.buffered
        guard buffered.add(byteCount) <= buffered.maxBytes else {
            buffered.add(-byteCount)
            promise?.fail(ChannelError.ioOnClosedChannel)
            self.refuse(.overloaded, context)
            return
        }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { _ in buffered.add(-byteCount) }
        context.write(data, promise: written)
    }
}

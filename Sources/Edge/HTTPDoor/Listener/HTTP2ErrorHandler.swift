internal import NIOCore
internal import NIOHTTP2

/// Closes a connection with HTTP/2 whose peer breaks the protocol or floods it, behind the GOAWAY
/// that the library has written: the library leaves the closing to others.
final class HTTP2ErrorHandler: ChannelInboundHandler {
    typealias InboundIn = Never

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        // Of one stream, which the library has reset; or a stream that was opened just as the
        // server said GOAWAY.
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.NoSuchStream: break
        default: context.close(promise: nil)
        }
    }
}

internal import NIOCore
internal import NIOSSL

/// Counts a connection whose TLS handshake fails. It is placed behind the TLS handler.
final class TLSFailureHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let onFailure: () -> Void

    init(onFailure: @escaping () -> Void) { self.onFailure = onFailure }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .handshakeFailed? = error as? NIOSSLError { self.onFailure() }
        context.fireErrorCaught(error)
    }
}

internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// The HTTP/1.1 server that both the page and the admin socket use, with its limits.
enum AdminHTTP {
    private static let maxHeaderFields = 100

    /// - Parameter answerTimeout: how long a connection may take to complete an answer; nil for no
    ///   limit, as for the socket, which only the server's own user can open.
    static func server(
        _ configuration: AdminConfiguration, answerTimeout: Duration?
    ) -> HTTPServerBuilder {
        let headerBytes = configuration.headerBytes
        return .http1(
            configuration: .init(
                additionalChannelHandlers: answerTimeout.map { [AnswerDeadline($0)] } ?? [],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: headerBytes, maxHeaderListSize: headerBytes,
                    maxHeaderFieldCount: Self.maxHeaderFields)))
    }
}

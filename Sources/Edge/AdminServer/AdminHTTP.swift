internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// The HTTP/1.1 server of both doors, with its limits.
enum AdminHTTP {
    private static let maxHeaderFields = 100

    /// - Parameter answerTimeout: how long a connection may take to complete an answer; nil: any
    ///   time, for a door that only the server's own user can use.
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

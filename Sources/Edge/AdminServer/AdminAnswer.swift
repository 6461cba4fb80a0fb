internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Creates the admin server's responses.
enum AdminAnswer {
    /// A plain text response, for people and probes.
    static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Self.bytes(status, "text/plain; charset=utf-8", ByteBuffer(string: text))
    }

    /// A response with a media type.
    static func bytes(
        _ status: HTTPResponse.Status, _ contentType: String, _ bytes: ByteBuffer
    ) -> Response {
        Response(
            status: status, headers: [.contentType: contentType], body: .init(byteBuffer: bytes))
    }

    /// A JSON response, with keys in snake case.
    ///
    /// - Throws: `EncodingError`.
    static func json(_ status: HTTPResponse.Status, _ value: some Encodable) throws -> Response {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Self.bytes(
            status, "application/json", ByteBuffer(bytes: try encoder.encode(value) + [0x0A]))
    }
}

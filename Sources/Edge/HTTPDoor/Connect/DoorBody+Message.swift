internal import HTTPTypes
internal import NIOCore

extension DoorBody {
    /// A request's body, decompressed.
    static func body(of request: DoorRequest, maxBytes: Int) throws(ConnectRefusal) -> ByteBuffer {
        do { return try Self.decoded(request, maxBytes: maxBytes) } catch {
            throw ConnectRefusal(error, field: "request")
        }
    }

    /// A message that is compressed by itself, and not as a body.
    static func message(
        _ message: ByteBuffer, encoding: String?, maxBytes: Int
    ) throws(ConnectRefusal) -> ByteBuffer {
        var request = DoorRequest(method: .post, path: "", body: message)
        request.headers[.contentEncoding] = encoding
        return try Self.body(of: request, maxBytes: maxBytes)
    }
}

internal import NIOCore

/// How a message is written in a unary call.
enum MessageCodec: String {
    case proto
    case json

    /// The content type of a body.
    var contentType: String { "application/\(self.rawValue)" }

    /// The codec of a body; nil if the media type is another one.
    init?(_ type: MediaType) {
        switch type.name {
        case Self.proto.contentType: self = .proto
        case Self.json.contentType: self = .json
        default: return nil
        }
    }

    /// The maximum bytes of a message, decompressed.
    var maxBytes: Int {
        switch self {
        case .proto: ConnectMethod.maxMessageBytes
        case .json: ConnectMethod.maxTextBytes
        }
    }

    /// A request in protobuf's binary form.
    func request(_ body: ByteBuffer, of method: ConnectMethod) throws(ConnectRefusal) -> ByteBuffer
    {
        switch self {
        case .proto: return body
        case .json:
            let bytes = try method.request(fromJSON: [UInt8](body.readableBytesView))
            guard bytes.count <= ConnectMethod.maxMessageBytes else {
                throw .tooLarge(
                    "request", limit: ConnectMethod.maxMessageBytes,
                    fix: "send fewer events per request")
            }
            return ByteBuffer(bytes: bytes)
        }
    }

    /// An answer's body.
    func body(of message: ByteBuffer, of method: ConnectMethod) throws(ConnectRefusal) -> ByteBuffer
    {
        switch self {
        case .proto: message
        case .json:
            ByteBuffer(bytes: try method.json(ofAnswer: [UInt8](message.readableBytesView)))
        }
    }
}

internal import NIOCore
internal import WireFormat

/// How gRPC-Web writes its frames: as bytes, or in base64 for clients that read text alone.
struct GRPCWebForm: Equatable {
    /// The content type, of the request and of its answer.
    let contentType: String
    /// Whether the frames are in base64.
    let isText: Bool

    /// The form of a body; nil if the media type is another one.
    init?(_ type: MediaType) {
        switch type.name {
        case "application/grpc-web", "application/grpc-web+proto": self.isText = false
        case "application/grpc-web-text", "application/grpc-web-text+proto": self.isText = true
        default: return nil
        }
        self.contentType = type.name
    }

    /// The frames in a body.
    func frames(in body: ByteBuffer) throws(ConnectRefusal) -> ByteBuffer {
        guard self.isText else { return body }
        guard let bytes = Base64.decode(body.readableBytesView, isChunked: true) else {
            throw .malformed("request", "no base64, which \(self.contentType) asks for")
        }
        return ByteBuffer(bytes: bytes)
    }

    /// A body of frames.
    func body(of frames: ByteBuffer) -> ByteBuffer {
        guard self.isText else { return frames }
        return ByteBuffer(bytes: Base64.encode(frames.readableBytesView, isPadded: true))
    }
}

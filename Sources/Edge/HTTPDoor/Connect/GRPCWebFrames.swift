internal import GRPCCore
internal import NIOCore
internal import WireFormat

/// The frames of gRPC-Web: a flag, the length in four bytes, and a message or trailers.
enum GRPCWebFrames {
    private static let (plain, compressed, trailers) = (UInt8(0), UInt8(1), UInt8(0x80))

    /// A message as it was sent.
    struct Message: Equatable {
        let isCompressed: Bool
        let bytes: ByteBuffer
    }

    /// The one message of a unary request.
    static func message(in frames: ByteBuffer) throws(ConnectRefusal) -> Message {
        var frames = frames
        guard frames.readableBytes > 0 else {
            throw .messageCount("the call has no message: a unary call has one")
        }
        guard let flag = frames.readInteger(as: UInt8.self),
            let length = frames.readInteger(as: UInt32.self)
        else { throw .malformed("request", "it ends within the five bytes before a message") }
        guard flag == Self.plain || flag == Self.compressed else {
            throw .malformed(
                "request", "a message has the flag \(flag): send 0, or 1 if compressed")
        }
        guard length <= UInt32(ConnectMethod.maxMessageBytes) else {
            throw .tooLarge(
                "request", limit: ConnectMethod.maxMessageBytes,
                fix: "send fewer events per request")
        }
        guard let bytes = frames.readSlice(length: Int(length)) else {
            throw .malformed(
                "request",
                "a message of \(length) bytes is announced, and \(frames.readableBytes) follow")
        }
        guard frames.readableBytes == 0 else {
            throw .messageCount("the call has more than one message: a unary call has one")
        }
        return Message(isCompressed: flag == Self.compressed, bytes: bytes)
    }

    /// The frames of an answer: its message, if it has one, and the trailers.
    static func frames(of answer: DoorAnswer) -> ByteBuffer {
        var frames = ByteBuffer()
        if answer.status.code == .ok, let message = answer.message {
            Self.write(message, flag: Self.plain, to: &frames)
        }
        let lines = Self.trailers(of: answer).map { "\($0.key): \($0.value)\r\n" }.joined()
        Self.write(ByteBuffer(string: lines), flag: Self.trailers, to: &frames)
        return frames
    }

    /// An answer's trailers in text, the status first.
    static func trailers(of answer: DoorAnswer) -> [(key: String, value: String)] {
        var trailers = [(key: "grpc-status", value: "\(answer.status.code.rawValue)")]
        if !answer.status.message.isEmpty {
            trailers.append(("grpc-message", answer.status.message.percentEncodedMessage))
        }
        // Clients in Python read base64 with its padding alone.
        return trailers + answer.metadata.map { ($0.key, $0.value.text(isPadded: true)) }
    }

    private static func write(_ bytes: ByteBuffer, flag: UInt8, to frames: inout ByteBuffer) {
        frames.writeInteger(flag)
        frames.writeInteger(UInt32(clamping: bytes.readableBytes))
        frames.writeImmutableBuffer(bytes)
    }
}

// The header that each HTTP/2 frame begins with, and the two frames that the guard writes itself.

/// A frame's header as it stands on the wire: nine bytes (RFC 9113, section 4.1), so that it goes
/// on exactly as it came.
struct HTTP2FrameHeader: Equatable, Sendable {
    /// Bytes of a header.
    static let byteCount = 9

    /// The length in 24 bits, type, flags, and all of the stream but its last byte.
    private var start: UInt64 = 0
    private var last: UInt8 = 0

    /// Frame types that the guard looks at (RFC 9113, section 6).
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let continuation: UInt8 = 9
    }

    /// Bytes of the payload that follows.
    var length: Int { Int(self.start >> 40) }
    var kind: UInt8 { UInt8(truncatingIfNeeded: self.start >> 32) }
    /// ACK of SETTINGS and PING: a flag of the same place (sections 6.5, 6.7).
    var isAcknowledgement: Bool { self.start >> 24 & 1 != 0 }
    /// END_HEADERS (sections 6.2, 6.6, 6.10).
    var endsHeaders: Bool { self.start >> 24 & 4 != 0 }
    /// The stream, without the reserved bit.
    var streamID: UInt32 {
        (UInt32(truncatingIfNeeded: self.start) << 8 | UInt32(self.last)) & 0x7FFF_FFFF
    }

    /// The nine bytes.
    var bytes: [UInt8] { Self.bigEndian(self.start) + [self.last] }

    init() {}

    init(length: Int, kind: UInt8, flags: UInt8, streamID: UInt32) {
        self.start =
            UInt64(length & 0xFF_FFFF) << 40 | UInt64(kind) << 32 | UInt64(flags) << 24
            | UInt64(streamID >> 8)
        self.last = UInt8(truncatingIfNeeded: streamID)
    }

    /// Reads a header that is whole.
    @inline(__always)
    init(_ chunk: Span<UInt8>, at offset: Int) {
        self.start = UInt64(
            bigEndian: chunk.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        self.last = chunk[offset &+ 8]
    }

    /// Takes in the next byte of a header that comes in parts; after nine of them it is whole.
    mutating func append(_ byte: UInt8) {
        self.start = self.start << 8 | UInt64(self.last)
        self.last = byte
    }

    /// The answer to a PING: the same eight bytes, with the ACK flag (section 6.7).
    static func pingAnswer(_ data: UInt64) -> [UInt8] {
        Self(length: 8, kind: Kind.ping, flags: 1, streamID: 0).bytes + Self.bigEndian(data)
    }

    /// GOAWAY with ENHANCE_YOUR_CALM (sections 6.8, 7). The words are those by which grpc's
    /// clients learn to send fewer PINGs.
    static func enhanceYourCalm(lastStreamID: UInt32) -> [UInt8] {
        let words = Array("too_many_pings".utf8)
        return Self(length: 8 + words.count, kind: Kind.goAway, flags: 0, streamID: 0).bytes
            + Self.bigEndian(lastStreamID) + Self.bigEndian(UInt32(0xB)) + words
    }

    private static func bigEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        (0..<Value.bitWidth / 8).map {
            UInt8(truncatingIfNeeded: value >> (Value.bitWidth - 8 - 8 * $0))
        }
    }
}

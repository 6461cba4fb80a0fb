/// The nine bytes of an HTTP/2 frame header (RFC 9113, section 4.1), kept unchanged so that the
/// header can be passed on byte for byte.
struct HTTP2FrameHeader: Equatable, Sendable {
    static let byteCount = 9

    /// Length (24 bits), type, flags and the first three bytes of the stream id.
    private var start: UInt64 = 0
    private var last: UInt8 = 0

    /// The frame types that the edge distinguishes (RFC 9113, section 6).
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let continuation: UInt8 = 9
    }

    /// The bytes of the payload.
    var length: Int { Int(self.start >> 40) }
    var kind: UInt8 { UInt8(truncatingIfNeeded: self.start >> 32) }
    /// The ACK flag of SETTINGS and PING (sections 6.5, 6.7).
    var isAcknowledgement: Bool { self.start >> 24 & 1 != 0 }
    /// The END_HEADERS flag (sections 6.2, 6.6, 6.10).
    var endsHeaders: Bool { self.start >> 24 & 4 != 0 }
    /// The stream id, without the reserved bit.
    var streamID: UInt32 {
        (UInt32(truncatingIfNeeded: self.start) << 8 | UInt32(self.last)) & 0x7FFF_FFFF
    }

    /// Whether it is DATA without flags: not padded, and not the last of its stream.
    var isPlainData: Bool { self.start >> 24 & 0xFFFF == 0 }
    /// Whether the headers are equal except for the length.
    func isLike(_ other: Self) -> Bool {
        self.start << 24 == other.start << 24 && self.last == other.last
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

    /// Parses a complete header.
    @inline(__always)
    init(_ chunk: Span<UInt8>, at offset: Int) {
        self.start = UInt64(
            bigEndian: chunk.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        self.last = chunk[offset &+ 8]
    }

    /// Appends a byte of a header that is split between chunks; complete after nine.
    mutating func append(_ byte: UInt8) {
        self.start = self.start << 8 | UInt64(self.last)
        self.last = byte
    }

    /// The answer to a PING: the same data with the ACK flag (section 6.7).
    static func pingAnswer(_ data: UInt64) -> [UInt8] {
        Self(length: 8, kind: Kind.ping, flags: 1, streamID: 0).bytes + Self.bigEndian(data)
    }

    /// GOAWAY with ENHANCE_YOUR_CALM (sections 6.8, 7). gRPC clients reduce their keepalive rate
    /// when they see this debug data.
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

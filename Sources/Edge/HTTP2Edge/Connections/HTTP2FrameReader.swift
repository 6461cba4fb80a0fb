/// Finds the frames of one direction of an HTTP/2 connection (RFC 9113), in chunks of any size, and
/// extracts a client's PINGs; everything else passes unchanged. It parses headers and skips
/// payloads, so its cost is per frame and its state is a header and a PING. It uses no NIO types,
/// so that a fuzzer can drive it with bytes.
struct HTTP2FrameReader: Sendable {
    /// A piece of a chunk. Ranges are never empty.
    enum Piece: Equatable {
        /// A frame that is complete in the chunk.
        case frame(HTTP2FrameHeader, Range<Int>)
        /// Bytes that pass unchanged: of the preface, or of a frame that is split between chunks.
        case part(Range<Int>)
        /// The header of a frame that began in an earlier chunk. It was held back until it was
        /// complete, because it might have been a PING's.
        case header(HTTP2FrameHeader)
        /// A PING, which was removed and must be answered: its eight bytes in network order.
        case ping(UInt64)
    }

    /// The sender of the bytes. A client begins with the preface (section 3.4); only a client's
    /// PINGs are extracted.
    enum Side {
        case client
        case server
    }

    /// What a client sends before its first frame (section 3.4).
    static let preface: [UInt8] = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Whether the preface and the SETTINGS frame that must follow are complete.
    private(set) var isGreeted = false
    /// The highest stream id of a HEADERS frame.
    private(set) var lastStreamID: UInt32 = 0
    /// The number of DATA and HEADERS frames.
    private(set) var answers = 0
    /// The number of GOAWAY frames.
    private(set) var goAways = 0

    private let side: Side
    private var place: Place
    /// The header being parsed, and the number of its bytes so far.
    private var header = HTTP2FrameHeader()
    private var headerCount = 0
    private var isFirstFrame = true
    /// Between HEADERS and END_HEADERS no other frame is allowed (section 6.10).
    private var isInHeaderBlock = false

    /// The kind of the next byte.
    private enum Place: Equatable {
        case preface(read: Int)
        case header
        case payload(left: Int)
        case ping(left: Int, data: UInt64)
        /// Not HTTP/2: all bytes pass, and the transport refuses them.
        case foreign
    }

    init(side: Side) {
        self.side = side
        self.place = side == .client ? .preface(read: 0) : .header
    }

    /// Whether the bytes so far end with a complete frame.
    var isAtBoundary: Bool { self.place == .header && self.headerCount == 0 }

    /// The next piece of `chunk` from `offset`, which is advanced; nil at the chunk's end. Bytes of
    /// a client's incomplete header or PING are held back for a later chunk.
    mutating func next(_ chunk: Span<UInt8>, from offset: inout Int) -> Piece? {
        guard offset < chunk.count else { return nil }
        let start = offset
        switch self.place {
        case .header: return self.readFrame(chunk, &offset)
        case .ping(let left, let data): return self.readPing(left, data, chunk, &offset)
        case .payload(let left): self.skipPayload(left, chunk.count, &offset)
        case .preface(let read): self.readPreface(read, chunk, &offset)
        case .foreign: offset = chunk.count
        }
        return .part(start..<offset)
    }
}

extension HTTP2FrameReader {
    private mutating func readPreface(_ read: Int, _ chunk: Span<UInt8>, _ offset: inout Int) {
        var read = read
        while read < Self.preface.count, offset < chunk.count {
            guard chunk[offset] == Self.preface[read] else {
                self.place = .foreign
                offset = chunk.count
                return
            }
            offset &+= 1
            read &+= 1
        }
        self.place = read < Self.preface.count ? .preface(read: read) : .header
    }

    private mutating func readFrame(_ chunk: Span<UInt8>, _ offset: inout Int) -> Piece? {
        let start = offset
        let isContinued = self.headerCount > 0
        guard self.readHeader(chunk, &offset) else {
            // A server's frames are only counted, so no bytes are held back.
            return self.side == .server ? .part(start..<offset) : nil
        }
        if self.isToBeExtracted { return self.readPing(8, 0, chunk, &offset) }
        self.countFrame()
        let length = self.header.length
        if isContinued {
            self.place = .payload(left: length)
            if length == 0 { self.endFrame() }
            return self.side == .server ? .part(start..<offset) : .header(self.header)
        }
        let rest = chunk.count &- offset
        guard length <= rest else {
            self.place = .payload(left: length &- rest)
            offset = chunk.count
            return .part(start..<offset)
        }
        offset &+= length
        self.endFrame()
        return .frame(self.header, start..<offset)
    }

    private mutating func skipPayload(_ left: Int, _ end: Int, _ offset: inout Int) {
        let count = min(left, end &- offset)
        offset &+= count
        if count == left { self.endFrame() } else { self.place = .payload(left: left &- count) }
    }

    /// Reads the available bytes of a PING; returns the PING once it is complete.
    private mutating func readPing(
        _ left: Int, _ data: UInt64, _ chunk: Span<UInt8>, _ offset: inout Int
    ) -> Piece? {
        var (left, data) = (left, data)
        while left > 0, offset < chunk.count {
            data = data << 8 | UInt64(chunk[offset])
            offset &+= 1
            left &-= 1
        }
        self.place = left > 0 ? .ping(left: left, data: data) : .header
        return left > 0 ? nil : .ping(data)
    }

    /// Reads the available bytes of a header; returns whether it is complete.
    private mutating func readHeader(_ chunk: Span<UInt8>, _ offset: inout Int) -> Bool {
        if self.headerCount == 0, chunk.count &- offset >= HTTP2FrameHeader.byteCount {
            self.header = HTTP2FrameHeader(chunk, at: offset)
            offset &+= HTTP2FrameHeader.byteCount
            return true
        }
        while self.headerCount < HTTP2FrameHeader.byteCount, offset < chunk.count {
            self.header.append(chunk[offset])
            offset &+= 1
            self.headerCount &+= 1
        }
        guard self.headerCount == HTTP2FrameHeader.byteCount else { return false }
        self.headerCount = 0
        return true
    }

    /// Whether the header is a client's PING to be answered here. A PING that violates the protocol
    /// passes, so that the transport refuses it: before SETTINGS, inside a header block, of a wrong
    /// size, or on a stream (sections 3.4, 6.7, 6.10).
    private var isToBeExtracted: Bool {
        self.header.kind == HTTP2FrameHeader.Kind.ping && self.side == .client && self.isGreeted
            && !self.header.isAcknowledgement && self.header.length == 8
            && self.header.streamID == 0 && !self.isInHeaderBlock
    }

    private mutating func countFrame() {
        switch self.header.kind {
        case HTTP2FrameHeader.Kind.data: self.answers &+= 1
        case HTTP2FrameHeader.Kind.headers:
            self.answers &+= 1
            self.lastStreamID = max(self.lastStreamID, self.header.streamID)
            self.isInHeaderBlock = !self.header.endsHeaders
        case HTTP2FrameHeader.Kind.pushPromise: self.isInHeaderBlock = !self.header.endsHeaders
        case HTTP2FrameHeader.Kind.continuation:
            if self.header.endsHeaders { self.isInHeaderBlock = false }
        case HTTP2FrameHeader.Kind.goAway: self.goAways &+= 1
        default: break
        }
    }

    private mutating func endFrame() {
        self.place = .header
        guard self.isFirstFrame else { return }
        self.isFirstFrame = false
        self.isGreeted =
            self.header.kind == HTTP2FrameHeader.Kind.settings && !self.header.isAcknowledgement
    }
}

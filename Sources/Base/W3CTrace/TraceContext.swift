package import WireFormat

/// A W3C trace context (w3.org/TR/trace-context, version 00). Malformed headers are ignored, so
/// that such a request starts a new trace.
package struct TraceContext: Sendable, Equatable {
    /// The trace id: 16 bytes, not all zero.
    package let traceID: TraceID
    /// The span id, not zero.
    package let spanID: UInt64
    /// Whether the caller records this trace.
    package let isSampled: Bool
    /// The tracestate header, at most 512 bytes; empty if it is absent or malformed.
    package let tracestate: String

    /// A trace id in two halves.
    package struct TraceID: Sendable, Hashable {
        /// The first 8 bytes, big-endian.
        package let high: UInt64
        /// The last 8 bytes, big-endian.
        package let low: UInt64

        /// Creates an id from its halves, at least one of which must not be zero.
        package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }
    }

    /// The length of a version 00 traceparent in bytes.
    package static let traceparentBytes = 55

    /// Creates a context from valid parts.
    package init(traceID: TraceID, spanID: UInt64, isSampled: Bool, tracestate: String = "") {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.tracestate = tracestate
    }

    /// Parses the two headers; nil if the traceparent is malformed. A malformed tracestate alone is
    /// dropped, as the specification requires.
    package init?(traceparent: Bytes, tracestate: Bytes = Bytes(start: nil, count: 0)) {
        let dash = UInt8(ascii: "-")
        guard traceparent.count >= Self.traceparentBytes,
            let version = Self.byte(traceparent, at: 0), version != 0xff,
            // Version 00 has exactly this length; later versions may append fields after a dash.
            traceparent.count == Self.traceparentBytes
                || (version != 0 && traceparent[Self.traceparentBytes] == dash),
            traceparent[2] == dash, traceparent[35] == dash, traceparent[52] == dash,
            let high = Self.number(traceparent, at: 3), let low = Self.number(traceparent, at: 19),
            high != 0 || low != 0,
            let span = Self.number(traceparent, at: 36), span != 0,
            let flags = Self.byte(traceparent, at: 53)
        else { return nil }
        self.init(
            traceID: TraceID(high: high, low: low), spanID: span, isSampled: flags & 1 == 1,
            tracestate: Self.isValid(tracestate: tracestate) ? tracestate.text : "")
    }

    /// Parses the two headers from strings; nil if the traceparent is malformed.
    package init?(traceparent: String, tracestate: String = "") {
        let context = traceparent.withBytes { traceparent in
            tracestate.withBytes { TraceContext(traceparent: traceparent, tracestate: $0) }
        }
        guard let context else { return nil }
        self = context
    }

    /// Starts a new trace with random ids from `generator`.
    package static func random(
        isSampled: Bool = false, using generator: inout some RandomNumberGenerator
    ) -> TraceContext {
        TraceContext(
            traceID: TraceID(
                high: Self.id(using: &generator), low: Self.id(using: &generator)),
            spanID: Self.id(using: &generator), isSampled: isSampled)
    }

    /// A new span in the same trace.
    package func child(using generator: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(
            traceID: self.traceID, spanID: Self.id(using: &generator),
            isSampled: self.isSampled, tracestate: self.tracestate)
    }

    /// The same context with another sampling decision.
    package func sampled(_ isSampled: Bool) -> TraceContext {
        TraceContext(
            traceID: self.traceID, spanID: self.spanID, isSampled: isSampled,
            tracestate: self.tracestate)
    }

    /// The same context without its tracestate.
    package var withoutState: TraceContext {
        TraceContext(traceID: self.traceID, spanID: self.spanID, isSampled: self.isSampled)
    }

    /// Zero is not a valid id. (`UInt64.random(in:)` would cost 250 ns more.)
    private static func id(using generator: inout some RandomNumberGenerator) -> UInt64 {
        max(generator.next(), 1)
    }

    /// The traceparent header.
    package var traceparent: String {
        String(unsafeUninitializedCapacity: Self.traceparentBytes) { text in
            self.write(to: UnsafeMutableRawBufferPointer(text))
            return Self.traceparentBytes
        }
    }

    /// Writes the traceparent header to the first 55 bytes of `text`.
    package func write(to text: UnsafeMutableRawBufferPointer) {
        precondition(text.count >= Self.traceparentBytes)
        let dash = UInt8(ascii: "-")
        let zero = UInt8(ascii: "0")
        (text[0], text[1], text[2], text[35], text[52]) = (zero, zero, dash, dash, dash)
        Self.write(self.traceID.high, to: text, at: 3)
        Self.write(self.traceID.low, to: text, at: 19)
        Self.write(self.spanID, to: text, at: 36)
        (text[53], text[54]) = (zero, self.isSampled ? UInt8(ascii: "1") : zero)
    }

    /// Writes 16 lower-case hex digits.
    private static func write(
        _ value: UInt64, to text: UnsafeMutableRawBufferPointer, at offset: Int
    ) {
        for place in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: value &>> UInt64(60 &- 4 &* place)) & 0xf
            text[offset &+ place] = digit < 10 ? digit &+ 0x30 : digit &+ 0x57
        }
    }

    /// Parses two lower-case hex digits; upper case is malformed.
    private static func byte(_ bytes: Bytes, at offset: Int) -> UInt8? {
        // Six zeros before them.
        let zeros: UInt64 = 0x3030_3030_3030_0000
        let digits = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        return Self.eightDigits(zeros | UInt64(UInt16(bigEndian: digits))).map {
            UInt8(truncatingIfNeeded: $0)
        }
    }

    /// Parses 16 lower-case hex digits; upper case is malformed.
    private static func number(_ bytes: Bytes, at offset: Int) -> UInt64? {
        func word(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard let high = Self.eightDigits(word(offset)),
            let low = Self.eightDigits(word(offset &+ 8))
        else { return nil }
        return high << 32 | low
    }

    /// Parses eight hex digits, the first of which is the highest byte of `word`, all at once:
    /// digit by digit this would be the slowest part of reading an event.
    private static func eightDigits(_ word: UInt64) -> UInt64? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // Digits are 0x30 to 0x39, letters 0x61 to 0x66: bit 6 tells them apart.
        let letters = word >> 6 & ones
        let values = (word & (ones &* 0xf)) &+ letters &* 9
        // The upper halves contain nothing else; a letter's value is 10 to 15, and a digit's at
        // most 9.
        guard word >> 4 & (ones &* 0xf) == ones &* 3 &+ letters &* 3, values & (ones &* 0xf0) == 0,
            (values &+ ones &* 6) >> 4 & ones == letters
        else { return nil }
        var packed = (values | values >> 4) & 0x00ff_00ff_00ff_00ff
        packed = (packed | packed >> 8) & 0x0000_ffff_0000_ffff
        return (packed | packed >> 16) & 0xffff_ffff
    }

    /// Allows at most 32 members of `key=value` and 512 bytes of printable ASCII, without repeated
    /// keys.
    private static func isValid(tracestate: Bytes) -> Bool {
        guard (1...512).contains(tracestate.count) else { return false }
        var keys: Set<[UInt8]> = []
        var members = 0
        for member in tracestate.split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        {
            let trimmed = Self.trimmed(member)
            if trimmed.isEmpty { continue }  // Empty members are allowed.
            members += 1
            guard members <= 32, let equals = trimmed.firstIndex(of: UInt8(ascii: "=")),
                Self.isValid(key: trimmed[..<equals]),
                Self.isValid(value: trimmed[(equals + 1)...]),
                keys.insert([UInt8](trimmed[..<equals])).inserted
            else { return false }
        }
        return members > 0
    }

    private static func trimmed(_ member: Slice<Bytes>) -> Slice<Bytes> {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        var member = member.drop(while: isSpace)
        while let last = member.last, isSpace(last) { member.removeLast() }
        return member
    }

    /// A key is `key` (256 bytes) or `tenant@system` (241 and 14): lower-case letters, digits and
    /// `_ - * /`, starting with a letter; a tenant may also start with a digit.
    private static func isValid(key: Slice<Bytes>) -> Bool {
        let parts = key.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        let isLetter: (UInt8) -> Bool = { (0x61...0x7a).contains($0) }
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) }
        guard
            key.allSatisfy({ isLetter($0) || isDigit($0) || "_-*/@".utf8.contains($0) }),
            let first = parts.first?.first, let last = parts.last?.first, isLetter(last)
        else { return false }
        switch parts.count {
        case 1: return key.count <= 256
        case 2:
            return (isLetter(first) || isDigit(first)) && parts[0].count <= 241
                && parts[1].count <= 14
        default: return false
        }
    }

    /// 1 to 256 printable ASCII characters without comma and equals sign, not ending in a space.
    private static func isValid(value: Slice<Bytes>) -> Bool {
        (1...256).contains(value.count) && value.last != 0x20
            && value.allSatisfy { (0x20...0x7e).contains($0) && $0 != 0x2c && $0 != 0x3d }
    }
}

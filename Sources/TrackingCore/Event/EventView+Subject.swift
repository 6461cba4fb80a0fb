extension EventView {
    private static let subjectTag: UInt32 = 5 << 3 | 2

    /// The bytes of an event with another subject, all else byte for byte.
    ///
    /// - Parameter subject: at most `Limits.nameBytes`; empty leaves the event without one.
    /// - Throws: `WireError` if the bytes are not a TrackingEvent.
    package static func bytes(
        of event: Bytes, subject: [UInt8]
    ) throws(WireError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(event.count + subject.count + 3)
        var reader = WireReader(event)
        var start = 0
        while let tag = try reader.nextTag() {
            try reader.skip(tag)
            if tag != Self.subjectTag { result.append(contentsOf: event[start..<reader.offset]) }
            start = reader.offset
        }
        guard !subject.isEmpty else { return result }
        result.append(UInt8(truncatingIfNeeded: Self.subjectTag))
        var length = subject.count
        while length >= 0x80 {
            result.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        result.append(UInt8(truncatingIfNeeded: length))
        return result + subject
    }
}

package import WireFormat

extension EventView {
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
            if tag != 5 << 3 | 2 { result.append(contentsOf: event[start..<reader.offset]) }
            start = reader.offset
        }
        return subject.isEmpty ? result : result + [UInt8](field: 5, subject)
    }
}

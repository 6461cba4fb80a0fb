internal import WireFormat

/// A copy of an event with another subject or without one: all other fields byte for byte, and how
/// far they moved.
struct SubjectChange {
    /// The new bytes.
    private(set) var bytes: [UInt8] = []
    /// The ranges of the event that were removed, in ascending order. There may be several: if the
    /// field occurs twice, the last one counts, but the first identifies somebody, too.
    private(set) var removed: [Range<Int>] = []
    /// Where the new subject is.
    private(set) var subject = EventSlice.none

    /// Copies the event's fields without parsing them.
    ///
    /// - Parameter subject: at most `Limits.nameBytes`; empty leaves the event without one.
    /// - Throws: `WireError` if the bytes are not fields.
    init(of event: Bytes, to subject: [UInt8]) throws(WireError) {
        self.bytes.reserveCapacity(event.count + subject.count + 3)
        var reader = WireReader(event)
        var start = 0
        while let tag = try reader.nextTag() {
            try reader.skip(tag)
            if tag == FieldTag.TrackingEvent.subjectID {
                self.removed.append(start..<reader.offset)
            } else {
                self.bytes.append(contentsOf: event[start..<reader.offset])
            }
            start = reader.offset
        }
        if subject.isEmpty { return }
        self.bytes.appendField(FieldTag.TrackingEvent.subjectID, subject)
        let offset = self.bytes.count - subject.count
        guard let slice = EventSlice(offset: offset, length: subject.count) else {
            throw .tooLarge
        }
        self.subject = slice
    }
}

internal import WireFormat

/// An event with another subject, or without one: all else byte for byte, and where it has moved.
struct SubjectChange {
    /// The new bytes.
    private(set) var bytes: [UInt8] = []
    /// The ranges of the event that are not among them, in ascending order. There may be several:
    /// of a field that occurs twice the last counts, but the first one tells of somebody, too.
    private(set) var removed: [Range<Int>] = []
    /// Where the new subject stands.
    private(set) var subject = EventSlice.none

    /// Walks over the fields of an event, without looking into them.
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

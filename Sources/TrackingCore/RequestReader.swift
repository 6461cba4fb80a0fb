// A request split into its events, in place. The three requests that carry events differ only in
// their field numbers.

/// Where a request message keeps what Admission reads.
package struct RequestShape: Sendable {
    let eventsTag: UInt32
    let hasSequence: Bool

    /// StreamEventsRequest: sequence = 1, events = 2, options = 3.
    package static let stream = RequestShape(eventsTag: 2 << 3 | 2, hasSequence: true)
    /// RecordEventsRequest and ExplainEventsRequest: events = 1.
    package static let unary = RequestShape(eventsTag: 1 << 3 | 2, hasSequence: false)
}

/// The parts of a request.
package struct RequestReader {
    /// The client's number; 0 where the message has none.
    package private(set) var sequence: UInt64 = 0
    /// Whether the client wants results of accepted events too.
    package private(set) var reportsAccepted = false
    /// The events' bytes, in order; those within the limit.
    package private(set) var events: [Bytes] = []
    /// Events in it, those beyond the limit too.
    package private(set) var eventCount = 0
    /// Why the bytes are no such request; what was read before it stands.
    package private(set) var error: WireError?

    /// Reads `request`, keeping its first `maxEvents` events and counting the others.
    package init(_ request: Bytes, shape: RequestShape, maxEvents: Int) {
        do throws(WireError) {
            try self.read(request, shape: shape, maxEvents: maxEvents)
        } catch {
            self.error = error
        }
    }

    private mutating func read(
        _ request: Bytes, shape: RequestShape, maxEvents: Int
    ) throws(WireError) {
        // 128 bytes is a small event: the array seldom grows, and never beyond the limit.
        self.events.reserveCapacity(min(request.count / 128 + 1, maxEvents))
        var reader = WireReader(request)
        while let tag = try reader.nextTag() {
            switch tag {
            case shape.eventsTag:
                let event = try reader.slice()
                self.eventCount &+= 1
                if self.eventCount <= maxEvents { self.events.append(event) }
            case 1 << 3 | 0 where shape.hasSequence: self.sequence = try reader.varint()
            case 3 << 3 | 2 where shape.hasSequence: try self.readOptions(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readOptions(_ reader: consuming WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 1 << 3 | 0: self.reportsAccepted = try reader.varint() != 0
            default: try reader.skip(tag)
            }
        }
    }
}

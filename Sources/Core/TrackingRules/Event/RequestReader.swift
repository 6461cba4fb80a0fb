package import WireFormat

/// A request message's field numbers: the three messages that carry events differ only in these.
package struct RequestShape: Sendable {
    let eventsTag: UInt32
    let hasSequence: Bool

    /// StreamEventsRequest: it also has a sequence and options.
    package static let stream = RequestShape(
        eventsTag: FieldTag.StreamEventsRequest.events, hasSequence: true)
    /// RecordEventsRequest and ExplainEventsRequest, which are alike.
    package static let unary = RequestShape(
        eventsTag: FieldTag.RecordEventsRequest.events, hasSequence: false)
}

/// A request split into its events, in place.
package struct RequestReader {
    /// The client's sequence number; 0 if the message has none.
    package private(set) var sequence: UInt64 = 0
    /// Whether the client also wants results for accepted events.
    package private(set) var reportsAccepted = false
    /// The bytes of the events, in order, up to the limit.
    package private(set) var events: [Bytes] = []
    /// The number of events, including those beyond the limit.
    package private(set) var eventCount = 0
    /// Why parsing failed; the fields read before the failure stay set.
    package private(set) var error: WireError?

    /// Parses `request`, keeps its first `maxEvents` events and counts the others.
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
        typealias Field = FieldTag.StreamEventsRequest
        // Events rarely take less than 128 bytes, so the array seldom grows.
        self.events.reserveCapacity(min(request.count / 128 + 1, maxEvents))
        var reader = WireReader(request)
        while let tag = try reader.nextTag() {
            switch tag {
            case shape.eventsTag:
                let event = try reader.slice()
                self.eventCount &+= 1
                if self.eventCount <= maxEvents { self.events.append(event) }
            case Field.sequence where shape.hasSequence: self.sequence = try reader.varint()
            case Field.options where shape.hasSequence:
                try self.readOptions(try reader.message())
            default: try reader.skip(tag)
            }
        }
    }

    private mutating func readOptions(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.StreamOptions
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.reportAccepted: self.reportsAccepted = try reader.varint() != 0
            default: try reader.skip(tag)
            }
        }
    }
}

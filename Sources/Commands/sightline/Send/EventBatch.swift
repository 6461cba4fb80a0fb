internal import SightlineClient
internal import SwiftProtobuf

/// The events of a single request.
package struct EventBatch {
    private static let maxEvents = 100
    private static let maxBytes =
        RequestLimits.largestRequestByteCount - RequestLimits.requestOverheadByteCount

    /// The events, in the order in which they were added.
    package private(set) var events: [OutgoingEvent] = []
    private var byteCount = 0

    /// Creates an empty batch.
    package init() {}

    /// Adds an event; false if the batch has no room for it.
    ///
    /// - Throws: `InputError` if no request can hold the event.
    package mutating func add(_ event: OutgoingEvent) throws -> Bool {
        let bytes: [UInt8] = try event.event.serializedBytes()
        // The event, its tag and its length of up to 3 bytes.
        let needed = bytes.count + 4
        guard needed <= Self.maxBytes else {
            throw InputError(
                file: event.origin.description,
                reason: "the event takes \(bytes.count) bytes, and a request holds at most "
                    + "\(Self.maxBytes)")
        }
        guard self.events.count < Self.maxEvents, needed <= Self.maxBytes - self.byteCount else {
            return false
        }
        self.events.append(event)
        self.byteCount += needed
        return true
    }
}

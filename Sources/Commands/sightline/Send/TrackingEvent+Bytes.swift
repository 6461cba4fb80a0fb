// An event's bytes as a message that gives the same bytes again.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

extension Sightline_V1_TrackingEvent {
    /// Reads an event. SwiftProtobuf takes keys of a map that look alike for one (D32): an event
    /// with such keys has what happened as bytes behind its other fields, and nothing is lost.
    ///
    /// - Throws: SwiftProtobuf's error, or `WireError`.
    init(exactly bytes: [UInt8]) throws {
        try self.init(serializedBytes: bytes)
        let again: [UInt8] = try self.serializedBytes()
        guard again.count != bytes.count else { return }
        self.interaction = nil
        let interaction = try bytes.withUnsafeBytes { try Self.interaction(in: $0) }
        // A message without fields keeps all bytes as those of unknown ones.
        self.unknownFields = try Google_Protobuf_Empty(serializedBytes: interaction).unknownFields
    }

    /// The fields of an event that have maps.
    private static func interaction(in event: Bytes) throws -> [UInt8] {
        typealias Field = FieldTag.TrackingEvent
        var found: [UInt8] = []
        var reader = WireReader(event)
        while true {
            let start = reader.offset
            guard let tag = try reader.nextTag() else { return found }
            try reader.skip(tag)
            guard [Field.push, Field.trackAction, Field.inApp, Field.pushSend].contains(tag) else {
                continue
            }
            found += event[start..<reader.offset]
        }
    }
}

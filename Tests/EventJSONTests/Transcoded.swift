internal import EventJSON
internal import Foundation
internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

/// What became of a text.
struct Transcoded {
    private(set) var bytes: [UInt8] = []
    private(set) var fault: EventFault?
    private(set) var jsonFault: JSONFault?
    /// Where the transcoder stopped.
    private(set) var offset = 0

    init(_ text: String) { self.init(Array(text.utf8)) }

    init(_ text: [UInt8]) {
        guard let table = try? EventTable.own() else {
            Issue.record("the descriptors are damaged")
            return
        }
        // A copy of the exact size, so that a read beyond it can be noticed.
        text.withUnsafeBytes { text in
            var transcoder = EventTranscoder(text, by: table)
            do throws(JSONFault) {
                self.fault = try transcoder.append()
            } catch {
                self.jsonFault = error
            }
            self.bytes = transcoder.bytes
            self.offset = transcoder.cursor.offset
        }
    }

    var isWhole: Bool { self.fault == nil && self.jsonFault == nil }

    /// The event, if SwiftProtobuf takes the bytes for one.
    var event: Sightline_V1_TrackingEvent? {
        // What it throws says nothing that a test tells.
        try? Sightline_V1_TrackingEvent(serializedBytes: self.bytes)
    }
}

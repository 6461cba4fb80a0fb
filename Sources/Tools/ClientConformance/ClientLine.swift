internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf

/// A line that a client has printed.
enum ClientLine: Sendable, Equatable {
    /// The final verdict on an event.
    case verdict(id: String, Sightline_V1_Verdict)
    /// The events that have none, at the end.
    case unacknowledged([String])
    case unreadable(String)

    private struct Rest: Decodable {
        let unacknowledged: [String]
    }

    init(_ line: String) {
        if let rest = try? JSONDecoder().decode(Rest.self, from: Data(line.utf8)) {
            self = .unacknowledged(rest.unacknowledged)
            return
        }
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        // What is neither is told of in a finding, as it came.
        let result = try? Sightline_V1_EventResult(jsonString: line, options: options)
        guard let result, !result.eventID.isEmpty, result.verdict != .unspecified else {
            self = .unreadable(String(line.prefix(200)))
            return
        }
        self = .verdict(id: result.eventID, result.verdict)
    }
}

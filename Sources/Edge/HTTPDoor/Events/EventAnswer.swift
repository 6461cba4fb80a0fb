internal import EventJSON
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

/// The answer of RecordEvents in JSON: the tally, and a result for each event that was not accepted
/// or, if the client asks for it, for all.
struct EventAnswer {
    private let message: Sightline_V1_RecordEventsResponse
    private let faults: [Int: EventRequest.Fault]
    private let reportsAccepted: Bool
    private let table: EventTable

    /// The media type.
    static let mediaType = "application/json"

    /// Reads the answer's message; `faults` says more of events that are none, and the table has
    /// the names of fields in JSON.
    ///
    /// - Throws: an error of SwiftProtobuf if it is none.
    init(
        _ message: ByteBuffer, faults: [Int: EventRequest.Fault], reportsAccepted: Bool,
        by table: EventTable
    ) throws {
        self.table = table
        self.message = try Sightline_V1_RecordEventsResponse(
            serializedBytes: Array(message.readableBytesView))
        self.faults = faults
        self.reportsAccepted = reportsAccepted
    }

    /// The answer to the client. It is written result by result: all of them as values would take
    /// several times the bytes of their text.
    func response() -> DoorResponse {
        var body = ByteBuffer(string: "{\"results\":[")
        var isFirst = true
        for result in self.message.results
        where self.reportsAccepted || result.verdict != .accepted {
            if !isFirst { body.writeString(",") }
            isFirst = false
            body.writeString(JSONValue.object(self.result(result)).text)
        }
        body.writeString("]")
        var headers: HTTPFields = [.contentType: Self.mediaType, .cacheControl: "no-store"]
        if self.message.hasRetryDelay {
            let delay = self.message.retryDelay
            body.writeString(",\"retryDelay\":\(JSONValue.string(Self.text(delay)).text)")
            let duration = Duration(
                secondsComponent: delay.seconds,
                attosecondsComponent: Int64(delay.nanos) * 1_000_000_000)
            headers[.retryAfter] = "\(duration.secondsToWait)"
        }
        body.writeString(",\"tally\":\(Self.text(self.message.tally))}\n")
        return DoorResponse(status: .ok, headers: headers, body: body)
    }

    private static func text(_ tally: Sightline_V1_Tally) -> String {
        "{\"accepted\":\(tally.accepted),\"duplicate\":\(tally.duplicate),"
            + "\"rejected\":\(tally.rejected),\"retryLater\":\(tally.retryLater),"
            + "\"suppressed\":\(tally.suppressed)}"
    }

    /// A duration as proto3 JSON has it.
    private static func text(_ delay: Google_Protobuf_Duration) -> String {
        // A delay of the server is within the range of Duration.
        (try? delay.jsonString()).map { String($0.dropFirst().dropLast()) } ?? "1s"
    }

    private func result(_ result: Sightline_V1_EventResult) -> JSONObject {
        let fault = result.verdict == .rejected ? self.faults[Int(result.index)] : nil
        var members: JSONObject = [
            "index": .integer(Int64(result.index)),
            "verdict": .string(EnumNames.verdict.name(of: result.verdict.rawValue)),
        ]
        let eventID = fault?.eventID ?? result.eventID
        if !eventID.isEmpty { members["eventId"] = .string(eventID) }
        let violations = fault.map { [Self.violation($0)] } ?? result.violations.map(self.violation)
        let lists: [(String, [JSONValue])] = [
            ("violations", violations.map { .object($0) }),
            ("hits", result.hits.map { .string(EnumNames.hitKind.name(of: $0.rawValue)) }),
            ("warnings", result.warnings.map { .string(EnumNames.warning.name(of: $0.rawValue)) }),
        ]
        for (name, list) in lists where !list.isEmpty { members[name] = .array(list) }
        return members
    }

    private func violation(_ violation: Sightline_V1_FieldViolation) -> JSONObject {
        [
            "field": .string(self.table.jsonPath(of: violation.field)),
            "code": .string(EnumNames.violationCode.name(of: violation.code.rawValue)),
            "description": .string(violation.description_p),
        ]
    }

    private static func violation(_ fault: EventRequest.Fault) -> JSONObject {
        [
            "field": .string(fault.field),
            "code": .string(EnumNames.violationCode.name(of: Int(fault.code.rawValue))),
            "description": .string(fault.description),
        ]
    }
}

package import WireFormat

/// How an event reached the server. The server writes it, whatever the client sends (D66): a report
/// has to be able to leave out what anybody may have forged.
package enum EventSource: UInt8, Sendable, CaseIterable {
    /// By a method of the API.
    case api = 0
    /// As a postback of Campaign's own SDK, without credentials.
    case postback = 1

    /// The name in databases, reports and options.
    package var name: String {
        switch self {
        case .api: "api"
        case .postback: "postback"
        }
    }

    /// The source with a number of the proto enum. One of a newer build counts as the API.
    package init(number: Int32) {
        self = UInt8(exactly: number).flatMap(Self.init(rawValue:)) ?? .api
    }

    /// The source of a stored event. One that cannot be parsed, which no build has stored, counts
    /// as the API's.
    package init(of event: Bytes) {
        let view = try? EventView(event)
        self.init(number: view?.source ?? 0)
    }

    /// Appends to the bytes behind an event what makes later readers find this source: nothing if
    /// the event says it already. Of a field that occurs twice the last one counts.
    @inline(__always)
    func append(to bytes: inout [UInt8], behind event: EventView) {
        // Most events say it, by saying nothing.
        if event.source == Int32(self.rawValue) { return }
        bytes.appendVarint(UInt64(FieldTag.TrackingEvent.source))
        bytes.appendVarint(UInt64(self.rawValue))
    }
}

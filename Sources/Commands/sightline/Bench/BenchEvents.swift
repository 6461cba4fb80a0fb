internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingReport

/// Makes a load's requests. Each kind of event is encoded once; writing an event's number into a
/// copy costs almost nothing.
///
/// The mix `real` is like apps' traffic: each platform sends every kind, a notification is received
/// and then opened or dismissed, and some events are sent twice, as after a broken connection.
struct BenchEvents: Sendable {
    /// The placeholder for the 16 digits of a number.
    private static let digits = "################"
    /// Of 80 events of `real`, the indices of those that repeat the event 40 before.
    private static let repeated: Set = [46, 47, 66, 67]

    private let isReal: Bool
    /// Encoded events with tag and length, and the offsets of their numbers' digits: the event's
    /// own, and that of its notification.
    private let templates: [(bytes: [UInt8], places: [Int])]
    /// The upper 24 bits distinguish this run's numbers from other runs', the lower 40 count its
    /// events.
    private let firstID: UInt64

    /// Encodes the events of a mix, with the current time.
    init(_ mix: BenchPlan.Mix, run: UInt64 = .random(in: 0..<1 << 24)) throws {
        self.isReal = mix == .real
        self.firstID = run << 40
        let texts =
            mix == .opened
            ? [Self.event("IOS", Self.push("OPENED", "IOS"))]
            : ["ANDROID", "IOS"].flatMap(Self.real)
        self.templates = try texts.map { text in
            var event = try Sightline_V1_TrackingEvent(jsonString: text)
            event.occurTime.seconds = Int64(Date().timeIntervalSince1970)
            let request = Sightline_V1_StreamEventsRequest.with { $0.events = [event] }
            let bytes: [UInt8] = try request.serializedBytes()
            return (bytes, bytes.indices.filter { bytes[$0...].starts(with: Self.digits.utf8) })
        }
    }

    /// The number of repeats among the first events.
    func repeatedCount(of count: Int) -> Int {
        let repeated = self.isReal ? Self.repeated : []
        return count / 80 * repeated.count + repeated.count { $0 < count % 80 }
    }

    /// The encoded request with the events of these numbers.
    func request(_ events: Range<Int>, sequence: UInt64) throws -> [UInt8] {
        let request = Sightline_V1_StreamEventsRequest.with { $0.sequence = sequence }
        var bytes: [UInt8] = try request.serializedBytes()
        for event in events {
            let isRepeated = self.isReal && Self.repeated.contains(event % 80)
            let number = self.firstID &+ UInt64(isRepeated ? event - 40 : event)
            let template = self.templates[event % self.templates.count]
            let start = bytes.count
            bytes += template.bytes
            for (index, place) in template.places.enumerated() {
                // In pairs: the first event receives a notification, the second opens or dismisses
                // it.
                let isSecond = index == 1 && self.isReal
                Self.write(isSecond ? number & ~1 : number, to: &bytes, at: start + place)
            }
        }
        return bytes
    }

    private static func write(_ number: UInt64, to bytes: inout [UInt8], at place: Int) {
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: number >> (60 - 4 * index) & 0xf)
            bytes[place + index] = (digit < 10 ? 0x30 : 0x57) &+ digit
        }
    }

    /// The events of a platform in the mix `real`.
    private static func real(_ platform: String) -> [String] {
        let (opened, dismissed) = (self.push("OPENED", platform), self.push("DISMISSED", platform))
        let message = #""inApp":{"messageId":"\#(BenchMark.deliveryID)","#
        let shown = message + #""impression":{}}"#
        let clicked = message + #""click":{"actionUrl":"https://shop.example/back-in-stock"}}"#
        let closed = message + #""dismissal":{"type":"IN_APP_DISMISS_TYPE_SWIPE"}}"#
        let ids = #""deliveryId":"\#(BenchMark.deliveryID)","broadlogId":"h\#(self.digits)""#
        let action = #""trackAction":{\#(ids),"action":"ACTION_CLICK"}"#
        return [
            opened, shown, dismissed, opened, clicked, opened, action, dismissed, opened, closed,
        ].flatMap { [self.push("RECEIVED", platform), $0] }.map { self.event(platform, $0) }
    }

    private static func push(_ kind: String, _ platform: String) -> String {
        let body = "What you looked at is back in your size, and it ships for free until Sunday."
        let text = #""title":"Back in stock","body":"\#(body)""#
        let ids = #""_dId":"\#(BenchMark.deliveryID)","_mId":"h\#(self.digits)""#
        let payload =
            platform == "IOS"
            ? #""apns":{"aps":{"alert":{\#(text)}},\#(ids),"_acsDeliveryTracking":"on"}"#
            : #""fcm":{"data":{\#(text),\#(ids),"_acsDeliveryTracking":"on"}}"#
        return #""push":{"kind":"PUSH_INTERACTION_KIND_\#(kind)",\#(payload)}"#
    }

    private static func event(_ platform: String, _ interaction: String) -> String {
        #"""
        {"eventId":"\#(self.digits)","appId":"\#(BenchMark.appID)","consent":"CONSENT_OPTED_IN",
        "platform":"PLATFORM_\#(platform)","subjectId":"77777777777777777777777777","traceContext":
        {"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},\#(interaction)}
        """#
    }
}

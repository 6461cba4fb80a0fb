// How an in-app message was used, as the report reads it from an event's bytes.
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct InAppDetailViewTests {
    /// Events, each with its trigger, the button's text and URL, dismissal and error.
    private static let rows: [(TestEvent, String)] = [
        (.inApp(), "|||0|0"),
        (.inApp { $0.inApp.triggerEvent = "purchase" }, "purchase|||0|0"),
        (
            .inApp {
                $0.inApp.click.actionText = "Buy"
                $0.inApp.click.actionURL = "app://sale"
            }, "|Buy|app://sale|0|0"
        ),
        (.inApp { $0.inApp.dismissal = .init() }, "|||0|0"),
        (.inApp { $0.inApp.dismissal.type = .swipe }, "|||3|0"),
        (.inApp { $0.inApp.dismissal.type = .UNRECOGNIZED(9) }, "|||9|0"),
        (.inApp { $0.inApp.displayError.reason = .imageDisplay }, "|||0|2"),
        (.apns(.opened), "|||0|0"),
    ]

    @Test("D24: each use of an in-app message has its own details, and no others", arguments: rows)
    func details(event: TestEvent, details: String) throws {
        let read = try event.bytes().withUnsafeBytes { bytes in
            let view = try InAppDetailView(bytes)
            let texts = [view.triggerEvent, view.actionText, view.actionURL].map(\.text)
            let numbers = [view.dismissType, view.errorReason].map { "\($0)" }
            return (texts + numbers).joined(separator: "|")
        }
        #expect(read == details)
    }
}

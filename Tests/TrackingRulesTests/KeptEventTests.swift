// The names by which people search for a refused event.
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct KeptEventTests {
    @Test(
        "what cannot be a delivery's id is no name, whether too long or not safe",
        arguments: [
            ("56c4", true), (String(repeating: "5", count: 256), true),
            (String(repeating: "5", count: 257), false), ("anna@example.com", false),
        ])
    func deliveryID(id: String, isName: Bool) throws {
        let event = TestEvent.fcm(.unspecified) { $0.push.fcm.data.deliveryID = id }
        let request = try AdmittedRequest.of([event], keeps: .all)
        let names = try #require(request.refusals.first?.kept).names
        let expected = EventNames(
            appID: event.appID, deliveryID: isName ? id : "", platform: .android)
        #expect(names == expected)
    }
}

internal import Foundation
@testable internal import Operations
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct TappedEventTests {
    private static let secret = "canary"

    /// An event whose every personal field is marked.
    private static func event(
        _ configure: (inout Sightline_V1_TrackingEvent) -> Void = { _ in }
    ) -> Sightline_V1_TrackingEvent {
        .with {
            $0 = TestEvents.push("h-\(Self.secret)")
            $0.subjectID = Self.secret
            $0.push.actionIdentifier = Self.secret
            $0.push.fcm.data.title = Self.secret
            $0.push.fcm.data.customFields = [Self.secret: Self.secret]
            configure(&$0)
        }
    }

    private func shown(
        _ event: Sightline_V1_TrackingEvent, unmasked: Bool
    ) throws -> Sightline_V1_TappedEvent {
        let tap = VerdictTap.with()
        let reader = try tap.reader { $0.unmasked = unmasked }
        tap.show([try TappedRequests.admitted([event])], of: "a")
        let events = reader.takeAll().events
        #expect(events.count == 1)
        return try #require(events.first)
    }

    /// An event, and its verdict.
    struct Row: Sendable {
        let event: Sightline_V1_TrackingEvent
        let verdict: Sightline_V1_Verdict
    }

    private static let rows = [
        Row(event: event(), verdict: .accepted),
        Row(
            event: event { $0.push.fcm.data.acsDeliveryTracking = "off" },
            verdict: .suppressedFlagOff),
        Row(
            event: event { $0.push.fcm.data.acsDeliveryTracking = secret },
            verdict: .suppressedFlagUnknown),
        Row(
            event: event { $0.push.fcm.data.messageID = "\(secret) \(secret)" }, verdict: .rejected),
        Row(event: event { $0.push.fcm.data.deliveryID = "\(secret)@" }, verdict: .rejected),
        Row(event: event { $0.push.kind = .unspecified }, verdict: .rejected),
    ]

    @Test("what is personal in an event is shown only to those who ask for it", arguments: rows)
    func masking(_ row: Row) throws {
        let masked = try self.shown(row.event, unmasked: false)
        let text = try masked.jsonString()
        #expect(!text.contains(Self.secret))
        #expect(!masked.hasEvent)
        let unmasked = try self.shown(row.event, unmasked: true)
        #expect(unmasked.event == row.event)
        for event in [masked, unmasked] {
            #expect(event.verdict == row.verdict)
            #expect(event.appID == "com.example.app")
            #expect(event.platform == .android)
            #expect(event.receiveTime.seconds == 1)
        }
        #expect(masked.violations.map(\.field) == unmasked.violations.map(\.field))
        #expect(masked.violations.allSatisfy { $0.description_p.isEmpty })
        #expect(unmasked.violations.allSatisfy { !$0.description_p.isEmpty })
    }

    @Test(
        "D23: of a person without consent only time, tenant and verdict are shown",
        arguments: [
            event { $0.consent = .optedOut },
            event { $0.consent = .unknown },
            event { $0.consent = .UNRECOGNIZED(9) },
            event {
                $0.consent = .optedOut
                $0.push.kind = .unspecified
            },
            event {
                $0.inApp.messageID = "canary"
                $0.inApp.impression = .init()
                $0.inApp.dataCollectionEnabled = false
            },
            event {
                $0.inApp.messageID = "canary"
                $0.inApp.dataCollectionEnabled = false
            },
        ])
    func consent(_ event: Sightline_V1_TrackingEvent) throws {
        let shown = try self.shown(event, unmasked: true)
        #expect(
            shown
                == .with {
                    $0.receiveTime.seconds = 1
                    $0.tenant = "a"
                    $0.verdict = shown.verdict
                    $0.violations = shown.violations
                })
        #expect([.suppressedConsent, .rejected].contains(shown.verdict))
        #expect(!(try shown.jsonString()).contains(Self.secret))
    }

    @Test(
        "of a recipient who is forgotten before a reader takes the event nothing personal is shown",
        arguments: rows)
    func forgotten(_ row: Row) throws {
        let forgotten = ForgottenSubjects(key: [7])
        let tap = VerdictTap.with(forgotten: forgotten)
        let reader = try tap.reader { $0.unmasked = true }
        tap.show([try TappedRequests.admitted([row.event])], of: "a")
        forgotten.insert(forgotten.hashes(of: [Self.secret], tenant: "a"))
        let events = reader.takeAll().events
        #expect(events == [try self.shown(row.event, unmasked: false)])
        #expect(events.first?.verdict == row.verdict)
    }

    @Test("hits and warnings of an accepted event are shown, and a raw payload's delivery")
    func details() throws {
        let open = try self.shown(TestEvents.push("h1", flag: nil), unmasked: false)
        #expect(open.hits == [.click, .open])
        #expect(open.warnings == [.flagAssumedOn])
        #expect(open.deliveryID == "56c4")
        for kind in [Sightline_V1_PushInteractionKind.opened, .unspecified] {
            let raw = Sightline_V1_TrackingEvent.with {
                $0.consent = .optedIn
                $0.platform = .android
                $0.push.kind = kind
                $0.push.raw.json = Data(#"{"data":{"_dId":"abc","_mId":"h1"}}"#.utf8)
            }
            #expect(try self.shown(raw, unmasked: false).deliveryID == "abc")
        }
    }

    @Test("a request that was refused as a whole is one rejected event without anything of it")
    func wholeRequest() throws {
        let request = try AdmittedRequest.malformed(3)
        request.isTapped = true
        let tap = VerdictTap.with()
        let reader = try tap.reader()
        tap.show([request], of: "a")
        let events = reader.takeAll().events
        #expect(events.map(\.verdict) == [.rejected])
        #expect(events.first?.violations.map(\.field) == ["request"])
    }
}

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct KeptRefusalsTests {
    /// An event, and whether it is kept for a recovery, and for readers of verdicts.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let event: Sightline_V1_TrackingEvent
        let isRecoverable: Bool
        let isShown: Bool

        init(
            _ name: String, recoverable: Bool, shown: Bool,
            _ configure: (inout Sightline_V1_TrackingEvent) -> Void
        ) {
            self.testDescription = name
            self.event = .with {
                $0 = TestEvents.push("h1")
                configure(&$0)
            }
            self.isRecoverable = recoverable
            self.isShown = shown
        }
    }

    @Test(
        "D23, D62: what other rules might accept is kept, but not without consent or with a token",
        arguments: [
            Row("accepted", recoverable: false, shown: false) { _ in },
            Row("wrong form", recoverable: true, shown: true) { $0.push.kind = .unspecified },
            Row("wrong ids", recoverable: true, shown: true) {
                $0.push.fcm.data.messageID = "no good"
            },
            Row("an unknown flag", recoverable: true, shown: true) {
                $0.push.fcm.data.acsDeliveryTracking = "maybe"
            },
            Row("a flag that is off", recoverable: false, shown: true) {
                $0.push.fcm.data.acsDeliveryTracking = "off"
            },
            Row("a test message", recoverable: false, shown: true) {
                $0.inApp.messageID = "1"
                $0.inApp.impression = .init()
                $0.inApp.testMessage = true
            },
            Row("opted out", recoverable: false, shown: false) { $0.consent = .optedOut },
            Row("opted out, and wrong form", recoverable: false, shown: false) {
                $0.consent = .optedOut
                $0.push.kind = .unspecified
            },
            Row("unknown consent, and wrong form", recoverable: false, shown: false) {
                $0.consent = .unknown
                $0.push.kind = .unspecified
            },
            Row("a consent that is none, and wrong form", recoverable: false, shown: false) {
                $0.consent = .UNRECOGNIZED(7)
                $0.push.kind = .unspecified
            },
            Row("data collection off, and wrong form", recoverable: false, shown: false) {
                $0.inApp.dataCollectionEnabled = false
            },
            Row("no interaction at all, but consent", recoverable: true, shown: true) {
                $0.interaction = nil
            },
            Row("a send of a wrong form", recoverable: true, shown: true) {
                $0.pushSend = .with { $0.deliveryID = "56c4" }
            },
            Row("a send with a token, and wrong form", recoverable: false, shown: false) {
                $0.pushSend.providerMessageID = String(repeating: "0af9", count: 16)
            },
            Row("unspecified consent, taken as given", recoverable: true, shown: true) {
                $0.consent = .unspecified
                $0.push.kind = .unspecified
            },
        ])
    func kept(_ row: Row) throws {
        for (keeps, isKept) in [
            (KeptRefusals.none, false), (.recoverable, row.isRecoverable), (.all, row.isShown),
        ] {
            let request = try AdmittedRequest.of([row.event], keeps: keeps)
            let kept = request.refusals.compactMap(\.kept)
            #expect(kept.count == (isKept ? 1 : 0), "\(keeps)")
            let bytes: [UInt8] = try row.event.serializedBytes()
            #expect(request.keptEvents == (isKept ? bytes : []))
        }
    }

    @Test("where unspecified consent is none, such an event is not kept")
    func policy() throws {
        var policy = Policy()
        policy.trackUnspecifiedConsent = false
        let admission = Admission(rules: RuleSet(policy: policy))
        let bytes: [UInt8] = try TestEvents.request(
            1,
            [
                .with {
                    $0 = TestEvents.push("h1")
                    $0.consent = .unspecified
                    $0.push.kind = .unspecified
                }
            ])
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "a",
                receiveTime: 0, keeps: .all)
        }
        #expect(request.refusals.count == 1 && request.keptEvents.isEmpty)
    }

    @Test("an event that cannot be parsed is not kept: nobody knows whose it is")
    func malformed() throws {
        // A string that is not UTF-8.
        let event: [UInt8] = [5 << 3 | 2, 1, 0xff]
        let bytes: [UInt8] = [2 << 3 | 2, UInt8(event.count)] + event
        let admission = Admission()
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "a",
                receiveTime: 0, keeps: .all)
        }
        #expect(request.refusals.map(\.judgement.violations.first?.code) == [.malformed])
        #expect(request.keptEvents.isEmpty)
    }
}

// What a request adds to the ledger.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct RequestLedgerTests {
    /// The refused events of a request as lines: platform, app, delivery, verdict, detail, count.
    private func lines(_ events: [TestEvent]) throws -> [String] {
        let ledger = try AdmittedRequest.of(events, tenant: "shop").ledger
        #expect(ledger.tenant == "shop")
        #expect(ledger.hour == UInt32(TestEvent.now / 3_600_000_000))
        return ledger.refused.map { refused in
            let bytes = ledger.subjects.withBytes(at: Int(refused.subject)) { Array($0) }
            let (platform, product) = LedgerSubject.facts(of: bytes[0])
            let app = bytes[2..<2 + Int(bytes[1])]
            let delivery = bytes[(3 + app.count)...]
            let verdict = refused.outcome.meaning.map { "\($0)" } ?? "unknown"
            return [
                platform?.name ?? "-", product.name, String(decoding: app, as: UTF8.self),
                String(decoding: delivery, as: UTF8.self), verdict, refused.detail,
                "\(refused.count)",
            ].joined(separator: "|")
        }
    }

    @Test("D6: an unknown flag's value is kept: at most 16 bytes, what is not ASCII as escapes")
    func flags() throws {
        let values = [
            "ON", "ON", "a\u{1}ä", "1234567890123456", "12345678901234567", "вкл", "ｏｎ", #"\u{1}"#,
            // The sixth letter would be cut in two.
            "日本語日本語",
            // Ten escapes of six bytes: one more would exceed 64.
            String(repeating: "\u{1f}", count: 16),
        ]
        let events = values.map { value in
            TestEvent.fcm(.opened) { $0.push.fcm.data.acsDeliveryTracking = value }
        }
        let place = "android|standard|com.example.app|56c4|refused(TrackingRules.Verdict"
        let details = [
            "ON|2", #"a\u{1}\u{e4}|1"#, "1234567890123456|2", #"\u{432}\u{43a}\u{43b}|1"#,
            #"\u{ff4f}\u{ff4e}|1"#, #"\\u{1}|1"#,
            #"\u{65e5}\u{672c}\u{8a9e}\u{65e5}\u{672c}|1"#,
            String(repeating: #"\u{1f}"#, count: 10) + "|1",
        ]
        #expect(
            try self.lines(events) == details.map { place + ".suppressedFlagUnknown)|\($0)" })
    }

    @Test("D23: without consent no delivery is kept, also of what breaks a rule of form")
    func consent() throws {
        let events: [TestEvent] = [
            .fcm(.opened) { $0.consent = .optedOut },
            .fcm(.unspecified) { $0.consent = .optedOut },
            .fcm(.unspecified),
            .inApp { $0.inApp.dataCollectionEnabled = false },
            .inApp {
                $0.inApp.dataCollectionEnabled = false
                $0.inApp.event = nil
            },
        ]
        #expect(
            try self.lines(events) == [
                "android|standard|com.example.app||refused(TrackingRules.Verdict.suppressedConsent)"
                    + "||1",
                "android|standard|com.example.app||refused(TrackingRules.Verdict.rejected)"
                    + "|push.kind required|1",
                "android|standard|com.example.app|56c4|refused(TrackingRules.Verdict.rejected)"
                    + "|push.kind required|1",
                "-|firebase|com.example.app||refused(TrackingRules.Verdict.suppressedConsent)||1",
                "-|firebase|com.example.app||refused(TrackingRules.Verdict.rejected)"
                    + "|in_app.event required|1",
            ])
    }

    @Test("what cannot be a delivery's id is not kept as one")
    func unsafeIDs() throws {
        let events: [TestEvent] = [
            .fcm(.opened) { $0.push.fcm.data.deliveryID = "anna@example.com" },
            .fcm(.opened) { $0.push.fcm.data.deliveryID = String(repeating: "5", count: 65) },
        ]
        for line in try self.lines(events) {
            #expect(line.hasPrefix("android|standard|com.example.app||"), "\(line)")
        }
    }

    @Test("accepted events know their subject: one for each app, delivery and platform")
    func subjects() throws {
        let request = try AdmittedRequest.of([
            .fcm(.received), .fcm(.opened), .apns(.opened), .fcm(.received) { $0.appID = "b" },
            .fcm(.received) { $0.push.fcm.data.deliveryID = "56c5" }, .fcm(.dismissed),
        ])
        #expect(request.acceptedEvents.map(\.subject) == [0, 0, 1, 2, 3, 0])
        #expect(request.ledger.subjects.count == 4)
    }

    @Test("D65: events of several versions are of several subjects, which share a row's key")
    func versions() throws {
        let versions = ["1", "1", "", "2", String(repeating: "v", count: 33)]
        let events = versions.map { version in
            TestEvent.fcm(.received) { $0.appVersion = version }
        }
        let request = try AdmittedRequest.of(events)
        #expect(request.acceptedEvents.map(\.subject) == [0, 0, 1, 2])
        // The last one is refused, and its version cut.
        #expect(request.ledger.refused.map(\.subject) == [3])
        let parts = (0..<4).map { index in
            request.ledger.subjects.withBytes(at: index) { bytes in
                let parts = LedgerSubject.parts(of: bytes)
                #expect(Array(parts.key) == Self.subject(.android).bytes)
                return parts.version.text
            }
        }
        #expect(parts == ["1", "", "2", String(repeating: "v", count: 32)])
    }

    @Test("D65: of a recipient without consent no version is kept, and of a sender's mistake none")
    func unnamedVersions() throws {
        let events: [TestEvent] = [
            .fcm(.opened) {
                $0.consent = .optedOut
                $0.appVersion = "1"
            },
            .send(.failed) { $0.appVersion = "1" },
        ]
        let subjects = try AdmittedRequest.of(events).ledger.subjects
        #expect(subjects.count == 2)
        for index in 0..<2 {
            #expect(
                subjects.withBytes(at: index) { LedgerSubject.parts(of: $0).version.count } == 0)
        }
    }

    @Test("a mark has a reason and a display, and counts by the one that its outcome is about")
    func marks() {
        for number in Int32(0)...11 {
            for shown in Int32(0)...3 {
                let reason = SendReason(rawValue: number)
                let display = SendDisplay(rawValue: shown)
                let mark = SendMark(reason: reason, display: display)
                #expect(mark.reason == reason && mark.display == display)
                let sent = mark.counted(as: .accepted(HitKinds(.sent)))
                #expect(sent == SendMark(display: display))
                for kind in [HitKind.sendFailed, .sendSkipped] {
                    #expect(
                        mark.counted(as: .accepted(HitKinds(kind))) == SendMark(reason: reason))
                    #expect(mark.counted(as: .duplicate(HitKinds(kind))) == .none)
                }
            }
        }
    }

    /// The subject of the tests' events.
    private static func subject(_ platform: Platform) -> LedgerSubject {
        "com.example.app".withBytes { app in
            "56c4".withBytes {
                LedgerSubject(platform: platform, product: .standard, app: app, delivery: $0)
            }
        }
    }

    @Test("the likely subject is the request's once an event has it, and else nobody's")
    func likely() throws {
        let events: [TestEvent] = [.fcm(.received), .apns(.opened), .fcm(.opened)]
        let (android, ios) = (Self.subject(.android), Self.subject(.ios))
        let other = LedgerSubject(platform: .ios, product: .firebase, app: .none, delivery: .none)
        for (likely, newest) in [(nil, ios), (android, ios), (ios, ios), (other, ios)] {
            let request = try AdmittedRequest.of(events, likely: likely)
            let subjects = request.ledger.subjects
            #expect(
                request.acceptedEvents.map { accepted in
                    subjects.withBytes(at: Int(accepted.subject)) { Array($0) }
                } == [android.bytes, ios.bytes, android.bytes])
            #expect(subjects.count == 2)
            #expect(subjects.newest == newest)
        }
        let known = try AdmittedRequest.of([.fcm(.received)], likely: android).ledger.subjects
        #expect(known.count == 1)
        #expect(known.newest == nil)
        #expect(try AdmittedRequest.of([], likely: other).ledger.subjects.count == 0)
    }

    @Test("D16: an impression of a closed app is noted on iOS alone")
    func closed() throws {
        let states: [Sightline_V1_AppState] = [.unspecified, .foreground, .background, .closed]
        let events =
            states.map { state in TestEvent.apns(.received) { $0.push.appState = state } }
            + [.apns(.opened) { $0.push.appState = .closed }]
            + [.fcm(.received) { $0.push.appState = .closed }]
        #expect(
            try AdmittedRequest.of(events).acceptedEvents.map(\.beside)
                == [nil, nil, nil, .closedImpression, nil, nil])
    }

    @Test("every outcome has a number of its own, which is read back")
    func outcomes() {
        let kinds =
            HitKind.allCases.map { HitKinds($0) } + [[HitKinds(.click), HitKinds(.open)]]
        var meanings: [(LedgerOutcome, LedgerOutcome.Meaning)] =
            kinds.map { (.accepted($0), .accepted($0)) }
        meanings += kinds.map { (.duplicate($0), .duplicate($0)) }
        meanings += (1...15).map { (.warning($0), .warning($0)) }
        meanings.append((.closedImpression, .closedImpression))
        meanings += [(.version, .version), (.send, .send), (.sentAndFailed, .sentAndFailed)]
        let refusals: [Verdict] = [
            .suppressedFlagOff, .suppressedFlagUnknown, .suppressedConsent, .suppressedTestMessage,
            .suppressedDisplay, .rejected,
        ]
        meanings += refusals.map { (.refused($0), .refused($0)) }
        for (outcome, meaning) in meanings { #expect(outcome.meaning == meaning) }
        #expect(Set(meanings.map(\.0)).count == meanings.count)
        #expect(Warnings.nothingShown.numbers.map(LedgerOutcome.warning) == [.nothingShown])
        #expect(meanings.allSatisfy { Int($0.0.rawValue) < LedgerOutcome.count })
        let events = meanings.filter(\.0.isEvent).count
        #expect(events == 2 * kinds.count + refusals.count, "each event has one outcome of these")
    }
}

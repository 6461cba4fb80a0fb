// Raw payloads against typed ones: the same fact, the same verdict and the same hit id.

internal import Foundation
internal import JSON
@testable internal import PayloadInspector
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct RawPayloadPropertyTests {
    /// Payloads in all; a search takes 200,000.
    private static let payloads =
        ProcessInfo.processInfo.environment["SIGHTLINE_TEST_PAYLOADS"].flatMap { Int($0) }
        ?? 8000
    private static let parts = 4

    @Test(
        "D8, D14, D17, D55: raw or typed, an event has one verdict, and its hits one id",
        arguments: 0..<Self.parts)
    func pairs(part: Int) throws {
        print("RawPayloadPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed), part \(part)")
        var generator = RawPayloadGenerator(seed: Dice.runSeed &+ UInt64(part))
        var verdicts: [Verdict: Int] = [:]
        var failures = 0
        for index in 0..<(Self.payloads / Self.parts) where failures < 3 {
            let pair = generator.pair()
            let (verdict, difference) = try Self.compare(pair)
            verdicts[verdict, default: 0] += 1
            guard let difference else { continue }
            failures += 1
            let json = String(decoding: pair.raw.push.raw.json, as: UTF8.self)
            Issue.record(
                """
                seed \(Dice.runSeed), part \(part), payload \(index): \(difference)
                \(json)
                """)
        }
        // A generator that knows only one verdict would prove nothing.
        let few = Self.payloads / Self.parts / 100
        for verdict in [Verdict.accepted, .rejected, .suppressedFlagOff, .suppressedConsent] {
            #expect(verdicts[verdict, default: 0] > few, "\(verdicts)")
        }
    }

    /// The typed event's verdict, and how the raw one differs.
    private static func compare(_ pair: PayloadPair) throws -> (Verdict, String?) {
        var typed = try pair.typed.judged()
        var raw = try pair.raw.judged()
        // Further keys of the raw one may be texts to show, so that it may lack the warning of D63,
        // but where the typed one has none.
        if typed.warnings.contains(.nothingShown) {
            typed.warnings.remove(.nothingShown)
            raw.warnings.remove(.nothingShown)
        }
        raw.violations = raw.violations.map { violation in
            Violation(
                Self.typedField(violation.field, pair), violation.code, violation.description)
        }
        guard raw.line == typed.line, raw.isDismissal == typed.isDismissal else {
            return (typed.verdict, "raw: \(raw.line); typed: \(typed.line)")
        }
        if let difference = try Self.compareInspection(pair) { return (typed.verdict, difference) }
        guard typed.verdict == .accepted else { return (typed.verdict, nil) }
        let acceptedEvents = try AdmittedRequest.of([pair.typed, pair.raw]).acceptedEvents
        let isSame =
            acceptedEvents.count == 2 && acceptedEvents[0].key == acceptedEvents[1].key
            && acceptedEvents[0].notification == acceptedEvents[1].notification
        return (typed.verdict, isSame ? nil : "another hit id")
    }

    /// The field of a typed payload that a raw one's violation is about.
    private static func typedField(_ field: String, _ pair: PayloadPair) -> String {
        guard field.hasPrefix(RawPayload.field) else { return field }
        let typed = pair.platform == .ios ? "push.apns" : "push.fcm.data"
        let names: [(PayloadID, String)] = [(.delivery, "delivery_id"), (.message, "message_id")]
        for place in [pair.place, pair.place.overlaid] {
            for (id, name) in names where field == place?.violationPath(id.rawValue) {
                return "\(typed).\(name)"
            }
        }
        return field.hasSuffix(".data") ? typed : field
    }

    /// The inspector says of the payload what the rules do, had the person consented (D55).
    private static func compareInspection(_ pair: PayloadPair) throws -> String? {
        var event = pair.raw
        event.consent = .optedIn
        event.push.kind = .opened
        event.push.product = .standard
        // Numbers beyond a float's range are JSON, and no payload that a push service takes.
        guard let document = try? PayloadDocument(Array(event.push.raw.json)) else { return nil }
        let inspection = PayloadInspector().inspect(document, platform: pair.platform)
        let line = try event.judged().line
        let root = document.value.objectValue ?? [:]
        let parts = PayloadSubject(document, root: root, platform: pair.platform).pushedParts
        let arrives = parts.allSatisfy { path in
            (document.pushedByteCount(at: path) ?? 0) <= PayloadDocument.maximumByteCount
        }
        guard arrives, inspection.tracked != line.hasPrefix("accepted") else { return nil }
        return "tracked: \(inspection.tracked), and \(line): \(inspection.findings)"
    }
}

internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

/// A queued event with its verdict. It becomes a message when its reader takes it, so that the
/// request's own task does little work.
struct TappedOutcome: Sendable {
    private let receiveTime: Int64
    private let tenant: String
    private let appID: String
    private let deliveryID: String
    private let platform: Platform?
    private let verdict: Verdict
    private let hits: HitKinds
    private let warnings: Warnings
    private let violations: [Violation]
    /// The event's own bytes; empty unless personal data is shown.
    private let event: [UInt8]

    /// The bytes of an outcome without violations and personal data, at most.
    private static let fixedBytes = 512

    init(
        _ outcome: AdmittedRequest.Outcome, _ names: EventNames?, tenant: String,
        receiveTime: Int64, isUnmasked: Bool
    ) {
        self.receiveTime = receiveTime
        self.tenant = tenant
        self.appID = names?.appID ?? ""
        self.deliveryID = names?.deliveryID ?? ""
        self.platform = names?.platform
        self.verdict = outcome.verdict
        self.hits = outcome.hits
        self.warnings = outcome.warnings
        self.violations =
            isUnmasked && outcome.event != nil
            ? outcome.violations : outcome.violations.map { Violation($0.field, $0.code, "") }
        self.event = isUnmasked ? outcome.event.map(Array.init) ?? [] : []
    }

    /// The bytes counted while it is queued.
    var bytes: Int {
        self.violations.reduce(Self.fixedBytes + self.event.count) { bytes, violation in
            bytes + violation.field.utf8.count + violation.description.utf8.count
        }
    }

    /// The event as its reader gets it.
    ///
    /// - Parameter forgotten: whose events are shown without personal data, also those that were
    ///   queued before.
    func proto(without forgotten: ForgottenSubjects) -> Sightline_V1_TappedEvent {
        let event = self.shownEvent(without: forgotten)
        return .with { proto in
            proto.receiveTime = .with { time in
                time.seconds = self.receiveTime / 1_000_000
                time.nanos = Int32(self.receiveTime % 1_000_000) * 1000
            }
            proto.tenant = self.tenant
            proto.appID = self.appID
            proto.deliveryID = self.deliveryID
            proto.platform =
                self.platform.flatMap { .init(rawValue: Int($0.rawValue)) } ?? .unspecified
            proto.verdict = .init(rawValue: Int(self.verdict.rawValue)) ?? .unspecified
            proto.hits = self.hits.kinds.compactMap { .init(rawValue: Int($0.rawValue)) }
            proto.warnings = self.warnings.numbers.compactMap { .init(rawValue: Int($0)) }
            proto.violations = self.violations.map { violation in
                .with { proto in
                    proto.field = violation.field
                    proto.code = .init(rawValue: Int(violation.code.rawValue)) ?? .unspecified
                    proto.description_p = event == nil ? "" : violation.description
                }
            }
            if let event { proto.event = event }
        }
    }

    /// The event with its personal data; nil if that is not shown.
    private func shownEvent(without forgotten: ForgottenSubjects) -> Sightline_V1_TrackingEvent? {
        guard !self.event.isEmpty,
            // Admission has parsed it with a reader that accepts the same bytes.
            var event = try? Sightline_V1_TrackingEvent(serializedBytes: self.event)
        else { return nil }
        let isForgotten = self.tenant.withBytes { tenant in
            event.subjectID.withBytes { forgotten.contains($0, tenant: tenant) }
        }
        if isForgotten { return nil }
        // JSON cannot represent a time out of range; the violation shows its values.
        if (try? event.occurTime.jsonString()) == nil { event.clearOccurTime() }
        return event
    }
}

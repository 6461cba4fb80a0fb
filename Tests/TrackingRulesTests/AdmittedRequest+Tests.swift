// Requests for the tests of Admission.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
@testable internal import TrackingRules

extension AdmittedRequest {
    /// Admits a StreamEventsRequest that holds `events`.
    static func of(
        _ events: [TestEvent], tenant: String = "default", rules: RuleSet = RuleSet(),
        source: EventSource? = .api, keeps: KeptRefusals = .none, likely: LedgerSubject? = nil
    ) throws -> AdmittedRequest {
        let request = Sightline_V1_StreamEventsRequest.with {
            $0.sequence = 1
            $0.events = events
        }
        return Self.of(
            bytes: try request.serializedBytes(), tenant: tenant, rules: rules, source: source,
            keeps: keeps, likely: likely)
    }

    /// Admits the bytes of a StreamEventsRequest.
    static func of(
        bytes: [UInt8], tenant: String = "default", rules: RuleSet = RuleSet(),
        source: EventSource? = .api, keeps: KeptRefusals = .none, likely: LedgerSubject? = nil
    ) -> AdmittedRequest {
        let admission = Admission(rules: rules)
        return bytes.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: tenant,
                receiveTime: TestEvent.now, source: source, keeps: keeps, likely: likely)
        }
    }
}

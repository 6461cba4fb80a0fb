internal import Credentials
internal import HTTP2Edge
internal import Pacing
package import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

/// Explains the verdict on events step by step, without recording or claiming anything. Offline it
/// applies the rules alone; in a server it also uses the deduplication window (D52).
package struct Explainer: Sendable {
    private let admission: Admission
    private let tenant: Tenant
    private let journal: Journal?

    /// Creates an offline explainer with the default rules.
    package init() { self.init(admission: Admission(), tenant: .standard, journal: nil) }

    init(admission: Admission, tenant: Tenant, journal: Journal?) {
        self.admission = admission
        self.tenant = tenant
        self.journal = journal
    }

    /// Explains events offline.
    ///
    /// - Throws: `BinaryEncodingError`, or the status that a server would send.
    package func explain(
        _ events: [Sightline_V1_TrackingEvent]
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        let request = Sightline_V1_ExplainEventsRequest.with { $0.events = events }
        let bytes: [UInt8] = try request.serializedBytes()
        return try await self.explain(RequestBuffer(bytes))
    }

    /// Explains the events of a request, on its caller's actor.
    ///
    /// - Throws: the status of a request that is refused as a whole.
    func explain(
        _ bytes: RequestBuffer, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        let receiveTime = WallClock.microseconds()
        let (admitted, steps) = try bytes.withUnsafeBytes { buffer in
            let reader = self.admission.read(buffer, shape: .unary)
            let admitted = self.admission.admit(
                reader, bytes: buffer.count, tenant: self.tenant.name, receiveTime: receiveTime)
            if let violation = admitted.violation { throw ServiceError.request(violation).status }
            let steps = reader.events.map { event in
                self.admission.steps(of: event, tenant: self.tenant.name, receiveTime: receiveTime)
            }
            return (admitted, steps)
        }
        if let journal = self.journal {
            admitted.acceptedEvents = await journal.preview(admitted.acceptedEvents)
        }
        return .with { response in
            response.results = admitted.results(includesAccepted: true)
            for index in response.results.indices {
                response.results[index].explanation =
                    steps[index] + [self.windowStep(response, index)]
            }
        }
    }

    private func windowStep(
        _ response: Sightline_V1_ExplainEventsResponse, _ index: Int
    ) -> String {
        switch response.results[index].verdict {
        case .duplicate: "duplicate: every hit of it is known already (D47)"
        case .accepted:
            self.journal == nil
                ? "duplicate: not looked at, a server's window of recent hits is needed"
                : "duplicate: no, at least one hit is new"
        default: "verdict: \(response.results[index].verdict)"
        }
    }
}

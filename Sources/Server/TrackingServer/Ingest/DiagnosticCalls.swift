internal import DeliveryDiagnosis
internal import Foundation
internal import HTTP2Edge
internal import PayloadInspector
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

/// Serves calls that record nothing, on a thread of their own. So they use at most one core, and
/// compete with streams only where there is no other. `SideTurns` lets them come one by one.
actor SideCalls {
    /// The queue of these calls.
    static let queue = DispatchQueue(label: "sightline.side")

    private static let executor = SideExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.executor.asUnownedSerialExecutor()
    }

    /// Explains the events of a request.
    ///
    /// - Throws: the status of a request that is refused as a whole.
    func explain(
        _ request: RequestBuffer, _ explainer: Explainer
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        try await explainer.explain(request, isolation: self)
    }

    /// Inspects the payload of a request.
    ///
    /// - Throws: the status of a malformed request.
    func inspect(_ request: RequestBuffer) throws -> Sightline_V1_InspectPayloadResponse {
        try PayloadInspector().inspect(try Self.message(request))
    }

    /// Tells a tenant of its delivery.
    ///
    /// - Throws: the status of a malformed request, or of one that names no delivery.
    func explainDelivery(
        _ request: RequestBuffer, of tenant: String, in journal: Journal
    ) async throws -> Sightline_V1_ExplainDeliveryResponse {
        let message: Sightline_V1_ExplainDeliveryRequest = try Self.message(request)
        guard !message.deliveryID.isEmpty else {
            throw ServiceError.request(
                Violation(
                    "delivery_id", .required, "missing: the delivery to explain; send its id")
            ).status
        }
        guard message.deliveryID.utf8.count <= Limits.nameBytes else {
            throw ServiceError.request(
                Violation(
                    "delivery_id", .tooLarge,
                    "\(message.deliveryID.utf8.count) bytes, the limit is \(Limits.nameBytes): "
                        + "send the delivery's own id")
            ).status
        }
        return .init(await journal.account(of: message.deliveryID, tenant: tenant))
    }

    private static func message<Message: SwiftProtobuf.Message>(
        _ request: RequestBuffer
    ) throws -> Message {
        do {
            return try request.withUnsafeBytes { try .init(serializedBytes: Array($0)) }
        } catch {
            throw ServiceError.request(
                Violation(
                    "request", .malformed, "not a protobuf message (\(error)): encode it anew")
            ).status
        }
    }
}

extension Ingest {
    /// Serves such a call when it is its turn: charges it to the tenant's quota, and counts its
    /// bytes until it is answered or has ended.
    ///
    /// - Throws: the status of an exceeded quota or of a call too many, `CancellationError` if the
    ///   call ends before its turn, or errors of `answer`.
    func aside<Answer: Sendable>(
        _ request: RequestBuffer, events: Int, _ allowance: Allowance,
        _ answer: @Sendable (SideCalls) async throws -> Answer
    ) async throws -> Answer {
        try allowance.take(events: events, bytes: request.count)
        self.budget.add(request.count)
        defer { self.budget.remove(request.count) }
        return try await self.sideTurns.run { try await answer(self.sideCalls) }
    }
}

private final class SideExecutor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        SideCalls.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

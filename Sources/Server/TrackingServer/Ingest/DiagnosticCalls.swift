internal import Credentials
internal import DeliveryDiagnosis
internal import Foundation
internal import GRPCCore
internal import HTTP2Edge
internal import Pacing
internal import PayloadInspector
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

/// Serves calls that record no event, on a thread of their own. So they use at most one core, and
/// compete with streams only if there is no other. `Ingest.runDiagnostic` serves one at a time.
actor DiagnosticCalls {
    /// The queue of these calls.
    static let queue = DispatchQueue(label: "sightline.diagnostic")

    private static let executor = QueueExecutor(DiagnosticCalls.queue)

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

    /// Reports what became of a tenant's delivery.
    ///
    /// - Throws: the status of a malformed request, or of one that names no delivery.
    func explainDelivery(
        _ request: RequestBuffer, of tenant: String, in journal: Journal,
        _ deliveries: (any DeliveryTotalsStoring)?
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
        // Without them the account says what it says, less one comparison.
        let totals = try? await deliveries?.totals(of: message.deliveryID, tenant: tenant)
        return .init(
            await journal.account(
                of: message.deliveryID, tenant: tenant, totals: totals?.first))
    }

    static func message<Message: SwiftProtobuf.Message>(
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
    /// Serves such a call when it is its turn: charges it to the tenant's quota, and counts it and
    /// its bytes until it is answered or has ended.
    ///
    /// The calls that may wait are a bound of their own, which tenants share: the limit of streams
    /// does not bound them, since gRPC reports no end of a stream that closes before its handler
    /// begins.
    ///
    /// - Throws: the status of an exceeded quota or of a call too many, `CancellationError` if the
    ///   call ends before its turn, or errors of `answer`.
    func runDiagnostic<Answer: Sendable>(
        _ request: RequestBuffer, events: Int, allowance: Allowance,
        _ answer: @Sendable (DiagnosticCalls) async throws -> Answer
    ) async throws -> Answer {
        try allowance.take(events: events, bytes: request.count)
        let places = self.diagnosticPlaces.share(
            of: allowance.tenant.name.utf8, on: allowance.connection.waitingCalls)
        guard places.take(1) else { throw ServiceError.overloaded.status }
        defer { places.remove(1) }
        allowance.memory.add(request.count)
        defer { allowance.memory.remove(request.count) }
        return try await self.diagnosticLock.withCall(in: allowance.line) {
            try await answer(self.diagnosticCalls)
        }
    }
}

extension AsyncLock {
    /// Runs `body` once the lock is this call's. An actor alone would begin the next call while one
    /// waits for the journal: so all of them would wait in its queue, and delay each commit.
    ///
    /// A call that ends while it waits leaves at once: its stream is free then, and a client could
    /// leave any number of such calls behind.
    ///
    /// - Parameter line: the line in which it waits.
    /// - Throws: `CancellationError` if the call ends before, or errors of `body`.
    func withCall<Answer: Sendable>(
        in line: TurnLine? = nil, _ body: () async throws -> Answer
    ) async throws -> Answer {
        let place = self.enqueue(in: line)
        defer { place.leave() }
        // gRPC does not cancel the task of a call that ends; a server that stops does.
        return try await withRPCCancellationHandler {
            try await withTaskCancellationHandler {
                // It may have ended after the lock was passed to it.
                guard await place.acquire(), !place.isCancelled else { throw CancellationError() }
                return try await body()
            } onCancel: {
                place.cancel()
            }
        } onCancelRPC: {
            place.cancel()
        }
    }
}

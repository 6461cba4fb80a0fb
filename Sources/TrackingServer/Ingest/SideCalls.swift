internal import DequeModule
internal import Foundation
internal import HTTP2Edge
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore
internal import TrackingJournal
internal import TrackingLedger

/// Serves calls that record nothing one after another, on a thread of their own. So they use at
/// most one core, and compete with streams only where there is no other.
actor SideCalls {
    /// The queue of these calls.
    static let queue = DispatchQueue(label: "sightline.side")

    private static let executor = SideExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        Self.executor.asUnownedSerialExecutor()
    }

    private var isBusy = false
    /// Those who wait for their turn: at most as many as there are streams.
    private var waiting: Deque<CheckedContinuation<Void, Never>> = []

    /// Runs a call that waits for the journal, alone. An actor begins the next call while one
    /// waits: so all of them would stand in the journal's queue, and each commit behind them.
    func alone<Answer: Sendable>(
        _ body: @Sendable () async throws -> Answer
    ) async rethrows -> Answer {
        if self.isBusy {
            await withCheckedContinuation { self.waiting.append($0) }
        } else {
            self.isBusy = true
        }
        defer {
            // It stays busy for the next one, so that no other comes before that.
            if let next = self.waiting.popFirst() { next.resume() } else { self.isBusy = false }
        }
        return try await body()
    }

    /// Explains the events of a request.
    ///
    /// - Throws: the status of a request that is refused as a whole.
    func explain(
        _ request: RequestBytes, _ explainer: Explainer
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        try await self.alone { try await explainer.explain(request, isolation: self) }
    }

    /// Inspects the payload of a request.
    ///
    /// - Throws: the status of a malformed request.
    func inspect(_ request: RequestBytes) throws -> Sightline_V1_InspectPayloadResponse {
        try PayloadInspector().inspect(try Self.message(request))
    }

    /// Tells a tenant of its delivery.
    ///
    /// - Throws: the status of a malformed request, or of one that names no delivery.
    func explainDelivery(
        _ request: RequestBytes, of tenant: String, in journal: Journal
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
        return .init(
            await self.alone { await journal.account(of: message.deliveryID, tenant: tenant) })
    }

    private static func message<Message: SwiftProtobuf.Message>(
        _ request: RequestBytes
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
    /// Serves such a call: charges it to the tenant's quota, and counts its bytes until it is
    /// answered.
    ///
    /// - Throws: the status of an exceeded quota, or errors of `answer`.
    func aside<Answer: Sendable>(
        _ request: RequestBytes, events: Int, _ allowance: Allowance,
        _ answer: @Sendable (SideCalls) async throws -> Answer
    ) async throws -> Answer {
        try allowance.take(events: events, bytes: request.count)
        self.budget.add(request.count)
        defer { self.budget.remove(request.count) }
        return try await answer(self.sideCalls)
    }
}

private final class SideExecutor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        SideCalls.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

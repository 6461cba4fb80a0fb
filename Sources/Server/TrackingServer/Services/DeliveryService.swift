internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import Pacing
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

/// Implements sightline.v1.DeliveryService: stores totals of deliveries of the caller's tenant,
/// each of which is charged to the quota as one event.
///
/// Its calls wait in turns with others that record no event, since they are as rare, and so have
/// the same bounds; see `Ingest.runDiagnostic`.
struct DeliveryService: RegistrableRPCService {
    let ingest: Ingest
    let deliveries: any DeliveryTotalsStoring

    private typealias Method = Sightline_V1_DeliveryService.Method

    /// The maximum message bytes by path: 1,000 deliveries with the longest texts fit.
    static let messageBytes = [
        "/" + Method.PutDeliveries.descriptor.fullyQualifiedMethod: MessageLimits.maxBytes
    ]

    func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
        router.registerHandler(
            forMethod: Method.PutDeliveries.descriptor, deserializer: RequestBufferDeserializer(),
            serializer: ProtobufSerializer<Method.PutDeliveries.Output>()
        ) { request, context in
            do {
                return try await self.putDeliveries(request, of: context.principal)
            } catch is CancellationError {
                // As of a call that waits for its turn while the server stops.
                throw ServiceError.closing.status
            }
        }
    }

    private func putDeliveries(
        _ request: StreamingServerRequest<RequestBuffer>, of caller: Principal
    ) async throws -> StreamingServerResponse<Sightline_V1_PutDeliveriesResponse> {
        // Without credentials everybody may record events, which says more than totals.
        guard caller.proof == .none || caller.has(.deliveries) else {
            throw ServiceError.scopeMissing(.deliveries).status
        }
        let allowance = try self.ingest.allowance(of: caller.tenant, request.metadata)
        let bytes = try await TrackingService.onlyMessage(of: request)
        let (answer, count) = try await self.ingest.runDiagnostic(
            bytes, events: 0, allowance: allowance
        ) { calls in
            try await calls.putDeliveries(bytes, of: caller.tenant.name, in: self.deliveries)
        }
        allowance.count(events: count)
        return StreamingServerResponse(single: ServerResponse(message: answer))
    }
}

extension DiagnosticCalls {
    /// Stores the deliveries of a request that break no rule.
    ///
    /// - Returns: the answer, and the number of deliveries in the request.
    /// - Throws: the status of a request that is malformed or too large, or that cannot be written.
    fileprivate func putDeliveries(
        _ request: RequestBuffer, of tenant: String, in store: any DeliveryTotalsStoring
    ) async throws -> (Sightline_V1_PutDeliveriesResponse, Int) {
        let message: Sightline_V1_PutDeliveriesRequest = try Self.message(request)
        guard message.deliveries.count <= DeliveryTotals.maxInRequest else {
            throw ServiceError.request(
                Violation(
                    "deliveries", .tooLarge,
                    "\(message.deliveries.count) deliveries, the limit is "
                        + "\(DeliveryTotals.maxInRequest): send several requests")
            ).status
        }
        var batch = PutBatch(message.deliveries)
        do {
            let unstored = try await store.put(
                batch.accepted.map(\.totals), of: tenant, now: WallClock.microseconds())
            batch.reject(unstored)
        } catch {
            throw ServiceError.deliveriesFailed("\(error)").status
        }
        return (batch.answer, message.deliveries.count)
    }
}

/// The deliveries of a request: those that break no rule, and what the others break.
private struct PutBatch {
    /// Those to be stored, each with its index in the request.
    private(set) var accepted: [(index: Int, totals: DeliveryTotals)] = []
    private var rejected: [(index: Int, violations: [Violation])] = []

    init(_ deliveries: [Sightline_V1_DeliveryTotals]) {
        var places: [[UInt8]: Int] = [:]
        for (index, proto) in deliveries.enumerated() {
            let (totals, broken) = DeliveryTotals.read(proto)
            var violations = broken
            let id = Array(proto.deliveryID.utf8)
            if let first = places[id], !id.isEmpty {
                violations.append(
                    Violation(
                        "delivery_id", .conflict,
                        "the delivery is at index \(first) as well: put it once"))
            } else {
                places[id] = index
            }
            if violations.isEmpty {
                self.accepted.append((index, totals))
            } else {
                self.rejected.append((index, violations))
            }
        }
    }

    /// Rejects those for which the tenant has no room, by their places in `accepted`.
    mutating func reject(_ unstored: [Int]) {
        let violation = Violation(
            "deliveries", .tooLarge,
            "the tenant has its share of deliveries.max_rows: raise it, or wait for "
                + "deliveries.retain_days")
        self.rejected += unstored.map { (self.accepted[$0].index, [violation]) }
        self.rejected.sort { $0.index < $1.index }
        let places = Set(unstored)
        self.accepted = self.accepted.enumerated().filter { !places.contains($0.offset) }
            .map(\.element)
    }

    var answer: Sightline_V1_PutDeliveriesResponse {
        .with { answer in
            answer.storedCount = UInt32(clamping: self.accepted.count)
            answer.rejected = self.rejected.map { index, violations in
                .with { delivery in
                    delivery.index = UInt32(clamping: index)
                    delivery.violations = violations.map(Sightline_V1_FieldViolation.init)
                }
            }
        }
    }
}

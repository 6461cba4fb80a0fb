internal import GRPCCore
internal import HTTP2Edge
internal import SightlineProtos
internal import SwiftProtobuf

/// Implements grpc.health.v1.Health for load balancers and `sightline health`.
struct HealthService: Grpc_Health_V1_Health.SimpleServiceProtocol {
    let board: HealthBoard

    func check(
        request: Grpc_Health_V1_HealthCheckRequest, context: ServerContext
    ) async throws -> Grpc_Health_V1_HealthCheckResponse {
        guard let status = self.board.status(of: request.service) else {
            throw ServiceError.serviceUnknown(request.service).status
        }
        return .with { $0.status = status }
    }

    func list(
        request: Grpc_Health_V1_HealthListRequest, context: ServerContext
    ) async throws -> Grpc_Health_V1_HealthListResponse {
        .with { response in
            for service in HealthBoard.services {
                guard let status = self.board.status(of: service) else { continue }
                response.statuses[service] = .with { $0.status = status }
            }
        }
    }

    func watch(
        request: Grpc_Health_V1_HealthCheckRequest,
        response: RPCWriter<Grpc_Health_V1_HealthCheckResponse>, context: ServerContext
    ) async throws {
        let (id, statuses) = try self.board.watch(
            request.service, from: RemotePeer.key(of: context.remotePeer))
        defer { self.board.endWatch(id) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var last: HealthBoard.Status?
                for await status in statuses where status != last {
                    last = status
                    try await response.write(.with { $0.status = status })
                }
            }
            group.addTask {
                // Ends when the client disconnects or the connection closes.
                try await context.cancellation.cancelled
            }
            try await group.next()
            group.cancelAll()
        }
        throw ServiceError.closing.status
    }
}

internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
package import SightlineProtos
internal import SwiftProtobuf

extension TrackingClient {
    /// The health of a service; the empty name is the whole server.
    ///
    /// - Throws: `TrackingClientError`; `refused` for an unknown service.
    package func health(
        of service: String
    ) async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        let message = Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }
        return try await self.callAny { client, metadata, options in
            let health = Grpc_Health_V1_Health.Client(wrapping: client)
            let answer = try await health.check(message, metadata: metadata, options: options)
            return answer.status
        }
    }
}

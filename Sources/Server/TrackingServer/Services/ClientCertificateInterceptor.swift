internal import Credentials
internal import Foundation
internal import GRPCCore

/// Refuses calls on connections whose client certificate has expired, or whose CA is no longer
/// trusted; see `ClientTrust`.
struct ClientCertificateInterceptor: ServerInterceptor {
    let trust: ClientTrust

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next:
            @Sendable (
                StreamingServerRequest<Input>, ServerContext
            ) async throws -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        guard let certificate = context.peerCertificate else {
            throw ServiceError.credentialsMissing.status
        }
        guard await self.trust.isTaken(certificate, at: Date()) else {
            throw ServiceError.credentialsRefused.status
        }
        return try await next(request, context)
    }
}

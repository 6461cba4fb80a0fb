internal import Credentials
internal import Foundation
internal import GRPCCore
internal import X509

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
        try await self.check(context.peerCertificate)
        return try await next(request, context)
    }

    /// Throws the status of a call on a connection with this certificate, if it is refused.
    func check(_ certificate: Certificate?) async throws {
        guard let certificate else { throw ServiceError.credentialsMissing.status }
        guard await self.trust.isTaken(certificate, at: Date()) else {
            throw ServiceError.credentialsRefused.status
        }
    }
}

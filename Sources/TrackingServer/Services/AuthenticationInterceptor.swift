// Asks every RPC for its credentials, once, before a message of it is read.
internal import Credentials
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import X509

/// Refuses RPCs without good credentials, and hands the others on with their principal.
struct AuthenticationInterceptor: ServerInterceptor {
    private let authenticator: Authenticator
    /// Full names of the services that answer everybody.
    private let openServices: Set<String>

    /// Asks for credentials everywhere but in health checks, whose probes have none, and in server
    /// reflection where that is open.
    init(_ authenticator: Authenticator, openReflection: Bool) {
        self.authenticator = authenticator
        self.openServices =
            openReflection
            ? [
                "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            ] : ["grpc.health.v1.Health"]
    }

    func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>, context: ServerContext,
        next:
            @Sendable (
                StreamingServerRequest<Input>, ServerContext
            ) async throws -> StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        guard !self.openServices.contains(context.descriptor.service.fullyQualifiedService) else {
            return try await next(request, context)
        }
        let transport = context.transportSpecific as? HTTP2ServerTransport.Posix.Context
        let principal = try self.principal(request, transport?.peerCertificate)
        var context = context
        context.transportSpecific = AuthenticatedContext(principal: principal)
        return try await next(request, context)
    }
}

extension AuthenticationInterceptor {
    private func principal<Input: Sendable>(
        _ request: StreamingServerRequest<Input>, _ certificate: Certificate?
    ) throws -> Principal {
        do throws(CredentialRefusal) {
            return try self.authenticator.principal(request.metadata, certificate: certificate)
        } catch {
            throw ServiceError(error).status
        }
    }
}

/// Takes the principal to the handlers. A task-local would not do: the producer of a streaming
/// answer runs after the interceptors have returned.
private struct AuthenticatedContext: ServerContext.TransportSpecific {
    let principal: Principal
}

extension ServerContext {
    /// Who the RPC comes from; anybody, where the server asks for no credentials.
    var principal: Principal {
        (self.transportSpecific as? AuthenticatedContext)?.principal ?? .anybody
    }
}

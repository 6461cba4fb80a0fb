internal import Credentials
internal import GRPCCore
internal import HTTPDoor
internal import SightlineProtos
internal import X509

/// Verifies each RPC's credentials before its messages are read, and passes the principal on.
struct AuthenticationInterceptor: ServerInterceptor {
    private let authenticator: Authenticator
    /// Full names of the services that need no credentials.
    private let openServices: Set<String>

    /// Requires credentials except for health checks, whose probes have none, and for server
    /// reflection if that is open.
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
        // A door that names the principal has no credentials to check.
        if context.namedPrincipal != nil { return try await next(request, context) }
        let principal = try self.principal(
            of: request.metadata, context.peerCertificate,
            needsScope: context.descriptor.service != Sightline_V1_TapService.descriptor)
        var context = context
        context.transportSpecific = AuthenticatedContext(principal: principal)
        return try await next(request, context)
    }
}

extension AuthenticationInterceptor {
    /// Whom a call with this metadata acts for; throws its status if it is refused.
    func principal(
        of metadata: Metadata, _ certificate: Certificate?, needsScope: Bool
    ) throws -> Principal {
        do throws(CredentialRefusal) {
            return try self.authenticator.principal(
                metadata, certificate: certificate, needsScope: needsScope)
        } catch {
            throw ServiceError(error).status
        }
    }
}

/// Passes the principal to handlers. A task-local would not reach the producer of a streaming
/// response, which runs after the interceptors have returned.
private struct AuthenticatedContext: ServerContext.TransportSpecific {
    let principal: Principal
}

extension ServerContext {
    /// The RPC's principal; anybody if the server requires no credentials.
    var principal: Principal {
        (self.transportSpecific as? AuthenticatedContext)?.principal ?? self.namedPrincipal
            ?? .anybody
    }

    /// Who the door that the call came through says it acts for; nil for all calls of clients that
    /// have credentials, or need none.
    fileprivate var namedPrincipal: Principal? {
        (self.transportSpecific as? DoorContext)?.principal
    }
}

internal import Credentials
internal import GRPCCore
internal import HTTPDoor
internal import ServerConfiguration

/// What checks the credentials of each call, on either port.
struct CallChecks: Sendable {
    private let certificates: ClientCertificateInterceptor?
    private let authentication: AuthenticationInterceptor?

    init(_ configuration: ServerConfiguration, _ access: Access) {
        self.certificates =
            configuration.tls.mode == .mtls
            ? access.certificates.map { ClientCertificateInterceptor(trust: $0.clients) } : nil
        self.authentication = access.authenticator.map {
            AuthenticationInterceptor($0, openReflection: configuration.auth.openReflection)
        }
    }

    /// For calls that the gRPC library serves.
    var interceptors: [any ServerInterceptor] {
        let all: [(any ServerInterceptor)?] = [self.certificates, self.authentication]
        return all.compactMap { $0 }
    }

    /// Whom a call of a door acts for, of a method with the usual scope.
    ///
    /// - Throws: the call's status if it is refused.
    func principal(of call: DoorCall, _ metadata: Metadata) async throws -> Principal {
        try await self.certificates?.check(call.peer.certificate)
        if let principal = call.principal { return principal }
        return try self.authentication?.principal(
            of: metadata, call.peer.certificate, needsScope: true) ?? .anybody
    }
}

// Calls of a door that names the principal itself, at a server that asks for credentials.
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTPDoor
internal import Logging
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct NamedPrincipalTests {
    /// The principal that a handler sees of a call through the interceptor.
    private static func principal(
        named: Principal?, metadata: Metadata = [:],
        method: MethodDescriptor = Sightline_V1_TrackingService.Method.RecordEvents.descriptor
    ) async throws -> Principal? {
        let interceptor = try await TestDirectory.with { directory in
            var configuration = AuthConfiguration()
            configuration.modes = [.keys]
            configuration.keysFile = directory + "/keys.jsonl"
            try KeysFile(path: configuration.keysFile).update { _ in }
            return AuthenticationInterceptor(
                try await Authenticator(
                    configuration,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
                openReflection: false)
        }
        return try await withServerContextRPCCancellationHandle { handle in
            var context = ServerContext(
                descriptor: method, remotePeer: "ipv4:192.0.2.1:1", localPeer: "http",
                cancellation: handle)
            context.transportSpecific = DoorContext(peerCertificate: nil, principal: named)
            let request = StreamingServerRequest<String>(
                metadata: metadata,
                messages: RPCAsyncSequence(wrapping: AsyncThrowingStream { nil }))
            let response: StreamingServerResponse<String> = try await interceptor.intercept(
                request: request, context: context
            ) { _, context in
                let tenant = context.principal.tenant.name
                return StreamingServerResponse(metadata: ["tenant": "\(tenant)"]) { _ in [:] }
            }
            let tenant = try response.accepted.get().metadata[stringValues: "tenant"].first { _ in
                true
            }
            return tenant.flatMap { Tenant($0) }.map { .host(of: $0) }
        }
    }

    @Test("a door's own principal needs no credentials, and what metadata say changes nothing")
    func named() async throws {
        let principal = Principal.host(of: try #require(Tenant("acme")))
        for metadata in [[:], ["x-api-key": "sk_none"], ["authorization": "Bearer x"]]
            as [Metadata]
        {
            #expect(try await Self.principal(named: principal, metadata: metadata) == principal)
        }
    }

    @Test("a call of a door that names none has to have credentials")
    func unnamed() async throws {
        for metadata in [[:], ["tenant": "acme"], ["principal": "acme"]] as [Metadata] {
            let error = await #expect(throws: GoogleRPCStatus.self) {
                _ = try await Self.principal(named: nil, metadata: metadata)
            }
            #expect(error?.code == .unauthenticated)
        }
    }

    @Test("a host's principal has no scope: it reads no verdicts, and puts no totals")
    func scopes() throws {
        let principal = Principal.host(of: try #require(Tenant("acme")))
        for scope in Scope.allCases { #expect(!principal.has(scope)) }
        #expect(principal.proof != .none)
    }
}

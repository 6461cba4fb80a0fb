// A transport with the server's TLS settings, and a service that records its callers.
@testable internal import Credentials
internal import Foundation
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import Logging
internal import SightlineClient
internal import SightlineProtos
internal import Synchronization
internal import TestSupport
internal import X509

struct TLSBench: Sendable {
    let files: TestTLSFiles
    let authority: TestAuthority
    let certificates: ServerCertificates
    let service: PeerService
    static let reloadInterval = Duration.milliseconds(5)
    private let records: TLSRecords
    private let address: ServerAddress

    /// Log records so far: level, message, metadata.
    var log: [String] { self.records.all.withLock { $0 } }

    /// Serves while `body` runs, with a certificate that lasts so many days.
    static func with(
        _ mode: ServerTLSConfiguration.Mode, until: Double = 90,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: (TLSBench) async throws -> Void
    ) async throws {
        try await TestDirectory.with { directory in
            let files = TestTLSFiles(directory: directory)
            let authority = try TestAuthority()
            try files.write(try authority.identity(until: until))
            var tls = ServerTLSConfiguration()
            tls.mode = mode
            tls.certificatePath = files.certificate
            tls.keyPath = files.key
            tls.reloadInterval = Self.reloadInterval
            if mode == .mtls {
                try files.write(roots: [authority.certificate])
                tls.clientRootsPath = files.clientRoots
            }
            let records = TLSRecords()
            let certificates = try ServerCertificates(
                tls, logger: Logger(label: "test") { _ in records }, clock: clock)
            let transport = HTTP2ServerTransport.Posix(
                address: .ipv4(host: "127.0.0.1", port: 0),
                transportSecurity: try certificates.transportSecurity())
            let service = PeerService()
            try await withGRPCServer(transport: transport, services: [service]) { server in
                guard let port = try await server.listeningAddress?.ipv4?.port else { return }
                try await body(
                    TLSBench(
                        files: files, authority: authority, certificates: certificates,
                        service: service, records: records,
                        address: try ServerAddress("127.0.0.1:\(port)")))
            }
        }
    }

    private init(
        files: TestTLSFiles, authority: TestAuthority, certificates: ServerCertificates,
        service: PeerService, records: TLSRecords, address: ServerAddress
    ) {
        self.files = files
        self.authority = authority
        self.certificates = certificates
        self.service = service
        self.records = records
        self.address = address
    }

    /// Whether a client on a new connection gets its answer.
    func isServed(trusting authority: TestAuthority, as client: String? = nil) async -> Bool {
        do {
            let roots = self.files.directory + "/roots-\(UUID().uuidString).pem"
            try self.files.write(roots: [authority.certificate], to: roots)
            var security = ClientSecurity()
            security.isEncrypted = true
            security.rootsPath = roots
            if let client {
                (security.certificatePath, security.keyPath) = self.files.client(client)
            }
            var options = CallOptions.defaults
            // A busy machine must not look like a refusal.
            options.timeout = .seconds(300)
            let calling = options
            _ = try await withGRPCClient(transport: try security.transport(to: self.address)) {
                try await Sightline_V1_TrackingService.Client(wrapping: $0)
                    .explainEvents(Sightline_V1_ExplainEventsRequest(), options: calling)
            }
            return true
        } catch {
            return false
        }
    }

    /// Waits for a condition, as long as the suite's limit lets it.
    func wait(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

/// Answers explain calls, and keeps the certificates of who made them.
final class PeerService: Sightline_V1_TrackingService.SimpleServiceProtocol {
    private let seen = Mutex<[Certificate]>([])

    var peers: [Certificate] { self.seen.withLock { $0 } }

    func explainEvents(
        request: Sightline_V1_ExplainEventsRequest, context: ServerContext
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        let transport = context.transportSpecific as? HTTP2ServerTransport.Posix.Context
        if let certificate = transport?.peerCertificate {
            self.seen.withLock { $0.append(certificate) }
        }
        return Sightline_V1_ExplainEventsResponse()
    }

    func streamEvents(
        request: RPCAsyncSequence<Sightline_V1_StreamEventsRequest, any Error>,
        response: RPCWriter<Sightline_V1_StreamEventsResponse>, context: ServerContext
    ) async throws { throw RPCError(code: .unimplemented, message: "not tested here") }

    func recordEvents(
        request: Sightline_V1_RecordEventsRequest, context: ServerContext
    ) async throws -> Sightline_V1_RecordEventsResponse {
        throw RPCError(code: .unimplemented, message: "not tested here")
    }

    func inspectPayload(
        request: Sightline_V1_InspectPayloadRequest, context: ServerContext
    ) async throws -> Sightline_V1_InspectPayloadResponse {
        throw RPCError(code: .unimplemented, message: "not tested here")
    }

    func explainDelivery(
        request: Sightline_V1_ExplainDeliveryRequest, context: ServerContext
    ) async throws -> Sightline_V1_ExplainDeliveryResponse {
        throw RPCError(code: .unimplemented, message: "not tested here")
    }
}

/// Keeps what is logged.
private struct TLSRecords: LogHandler {
    final class Store: Sendable {
        let records = Mutex<[String]>([])
        func withLock<Value>(_ body: (inout [String]) -> Value) -> Value where Value: Sendable {
            self.records.withLock { body(&$0) }
        }
    }

    let all = Store()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }
        let words =
            ["\(event.level)", "\(event.message)"] + metadata.map { "\($0.key)=\($0.value)" }
        self.all.withLock { $0.append(words.joined(separator: " ")) }
    }
}

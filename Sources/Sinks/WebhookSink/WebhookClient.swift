// One request at a time, over a connection to an address that was checked.
internal import AsyncHTTPClient
internal import HTTPClients
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import SinkKit
internal import WireFormat

/// Posts bodies. The client connects to one address of the host, which the guard has passed: no
/// other look-up can lead elsewhere. TLS still checks the certificate against the host's name.
///
/// Used by its sink alone.
final class WebhookClient {
    let url: WebhookURL
    private let configuration: WebhookConfiguration
    let resolver: WebhookResolver
    private var pinned: Pinned?
    /// How many addresses have failed since one worked.
    private var failures = 0

    private struct Pinned {
        let client: HTTPClient
        let address: NetworkAddress
        let resolved: ContinuousClock.Instant
    }

    init(
        _ url: WebhookURL, _ configuration: WebhookConfiguration, _ resolver: WebhookResolver
    ) {
        self.url = url
        self.configuration = configuration
        self.resolver = resolver
    }

    deinit { self.pinned?.client.shutdown { _ in } }

    /// Posts a body.
    ///
    /// - Throws: `WebhookFailure` if no answer came.
    func post(
        _ body: [UInt8], headers: [(String, String)], now: ContinuousClock.Instant,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(WebhookFailure) -> WebhookResponse {
        let client = try self.client(now: now)
        var request = HTTPClientRequest(url: self.url.text)
        request.method = .POST
        request.headers = HTTPHeaders(headers)
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            let response = try await Self.exchange(
                client, request, self.configuration.timeout, self.configuration.maxAnswerBytes)
            self.failures = 0
            return response
        } catch {
            // The next try looks the host up again, and takes its next address.
            self.failures &+= 1
            self.shutDown()
            throw Self.failure(error)
        }
    }

    /// Closes the connection.
    private func shutDown() {
        self.pinned?.client.shutdown { _ in }
        self.pinned = nil
    }

    private func client(now: ContinuousClock.Instant) throws(WebhookFailure) -> HTTPClient {
        if let pinned, pinned.resolved.duration(to: now) < self.configuration.resolveInterval {
            return pinned.client
        }
        let addresses: [NetworkAddress]
        do {
            addresses = try self.resolver.addresses()
        } catch {
            self.shutDown()
            throw error
        }
        if let pinned, addresses.contains(pinned.address) {
            self.pinned = Pinned(client: pinned.client, address: pinned.address, resolved: now)
            return pinned.client
        }
        self.shutDown()
        let address = addresses[self.failures % addresses.count]
        let client = try self.client(of: address)
        self.pinned = Pinned(client: client, address: address, resolved: now)
        return client
    }

    private func client(of address: NetworkAddress) throws(WebhookFailure) -> HTTPClient {
        var tls = TLSConfiguration.outbound()
        if !self.configuration.tlsRoots.isEmpty {
            do {
                tls.trustRoots = .certificates(
                    try NIOSSLCertificate.fromPEMFile(self.configuration.tlsRoots))
            } catch {
                throw WebhookFailure(
                    "webhook.tls.roots is \"\(self.configuration.tlsRoots)\", which cannot be "
                        + "used: \(String(reasonOf: error))")
            }
        }
        var client = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(self.configuration.connectTimeout)),
            connectionPool: .init(
                idleTimeout: .seconds(60), concurrentHTTP1ConnectionsPerHostSoftLimit: 1))
        // A failed connection is the forwarder's to try again.
        client.connectionPool.retryConnectionEstablishment = false
        client.httpVersion = .http1Only
        // The library's own spans would have the URL.
        client.tracing.tracer = nil
        client.dnsOverride = [self.url.host: address.text]
        return HTTPClient(
            eventLoopGroupProvider: .shared(HTTPClient.defaultEventLoopGroup),
            configuration: client)
    }

    /// Sends a request and reads its answer, within a time for all of it.
    private static func exchange(
        _ client: HTTPClient, _ request: HTTPClientRequest, _ timeout: Duration, _ maxBytes: Int
    ) async throws -> WebhookResponse {
        try await withTimeLimit(timeout) {
            // The limit ends the request earlier.
            let response = try await client.execute(request, timeout: .hours(1))
            return WebhookResponse(
                status: Int(response.status.code),
                retryAfter: response.headers.first(name: "retry-after"),
                contentType: response.headers.first(name: "content-type"),
                body: try await Self.body(of: response, maxBytes))
        }
    }

    /// Nil if it exceeds the limit.
    private static func body(
        of response: HTTPClientResponse, _ maxBytes: Int
    ) async throws -> [UInt8]? {
        var body: [UInt8] = []
        for try await part in response.body {
            if body.count + part.readableBytes > maxBytes { return nil }
            body.append(contentsOf: part.readableBytesView)
        }
        // A cancelled body ends as if it were whole.
        try Task.checkCancellation()
        return body
    }

    private static let maxReasonScalars = 200

    private static func failure(_ error: any Error) -> WebhookFailure {
        if let failure = error as? WebhookFailure { return failure }
        if error is TimeLimitPassed {
            return WebhookFailure("no answer within webhook.timeout_seconds")
        }
        if error is CancellationError { return WebhookFailure("the server stops") }
        let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        let reason = String(reasonOf: cause).cut(toScalars: Self.maxReasonScalars)
        return WebhookFailure("no answer: \(reason)")
    }
}

// Campaign's own server behind the door: it gets what is no postback, and with `postback.mirror`
// the postbacks too.
internal import AsyncHTTPClient
internal import HTTP2Edge
internal import HTTPClients
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// A client of Campaign's servers, with connections that are kept. It follows no redirect, tries
/// nothing twice, and holds at most `postback.upstream_requests` answers of
/// `postback.upstream_bytes` each.
package final class PostbackUpstream: UpstreamForwarding {
    /// What a million addresses of a host may have at most together, in bounds: 2 + ln N.
    private static let sharesFactor = 16

    private let client: HTTPClient
    private let timeout: Duration
    private let maxBytes: Int
    /// Those of the requests under way.
    private let places: Mutex<UpstreamPlaces>

    /// A client that connects with its first request.
    package init(_ configuration: PostbackConfiguration) {
        self.timeout = configuration.upstreamTimeout
        self.places = Mutex(UpstreamPlaces(configuration.maxUpstreamRequests))
        self.maxBytes = configuration.maxUpstreamBytes
        var settings = HTTPClient.Configuration()
        // Its roots are read for the first connection, which fails if the file is gone by then, and
        // kept by the client: a file that was replaced needs a restart.
        settings.tlsConfiguration = TLSConfiguration.outbound(roots: configuration.upstreamRoots)
        settings.redirectConfiguration = .disallow
        settings.httpVersion = .http1Only
        settings.timeout.connect = TimeAmount(configuration.upstreamTimeout)
        settings.timeout.read = TimeAmount(configuration.upstreamTimeout)
        // The places bound the requests: one that has its place may not wait for a connection.
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            Self.sharesFactor * configuration.maxUpstreamRequests
        settings.connectionPool.retryConnectionEstablishment = false
        // Its spans would hold URLs, which name people.
        settings.tracing.tracer = nil
        self.client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    deinit { self.client.shutdown { _ in } }

    /// The answer of a server, whole within the limits.
    package func answer(
        _ request: DoorRequest, by server: String
    ) async -> (response: DoorResponse?, outcome: UpstreamOutcome) {
        guard let message = UpstreamMessage.request(request, to: server) else {
            return (nil, .unfit)
        }
        guard !UpstreamMessage.hasPassedHere(request) else { return (nil, .circle) }
        let (host, address) = (Array(request.host.utf8), RemotePeer.key(of: request.peer.address))
        guard self.places.withLock({ $0.take(host: host, address: address) })
        else { return (nil, .busy) }
        defer { self.places.withLock { $0.giveBack(host: host, address: address) } }
        do {
            let response = try await self.send(message)
            return (response, response == nil ? .tooLarge : .answered)
        } catch is TimeLimitPassed {
            return (nil, .late)
        } catch let error as HTTPClientError
            where error == .deadlineExceeded || error == .connectTimeout || error == .readTimeout
        {
            return (nil, .late)
        } catch {
            return (nil, .failed)
        }
    }

    /// The client's own deadline ends with the head of an answer; this one is for its body too.
    private func send(_ message: HTTPClientRequest) async throws -> DoorResponse? {
        let deadline = NIODeadline.now() + TimeAmount(self.timeout)
        return try await withTimeLimit(self.timeout) {
            let answer = try await self.client.execute(message, deadline: deadline)
            return try await UpstreamMessage.response(
                answer, to: message.method, maxBytes: self.maxBytes)
        }
    }
}

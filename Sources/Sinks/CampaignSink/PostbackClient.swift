// Sends requests over HTTP.
internal import AsyncHTTPClient
internal import Foundation
internal import HTTPClients
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// A client of Campaign's servers, with connections that are kept.
final class PostbackClient: Sendable {
    private let client: HTTPClient

    /// An answer's body is read up to this, so that its connection can be used again. A connection
    /// with a longer answer is closed.
    private static let maxBodyBytes = 64 << 10

    /// A client that connects with its first request.
    init(_ configuration: CampaignConfiguration) {
        var settings = HTTPClient.Configuration()
        // Its roots are read for the first connection, which fails if the file is gone by then, and
        // kept by the client: a file that was replaced needs a restart.
        settings.tlsConfiguration = TLSConfiguration.outbound(roots: configuration.tlsRoots)
        settings.redirectConfiguration = .disallow
        settings.httpVersion = .http1Only
        settings.timeout.connect = TimeAmount(
            max(configuration.standardTimeout, configuration.classicTimeout))
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            configuration.maxInFlight
        settings.connectionPool.retryConnectionEstablishment = false
        // Its spans would hold URLs, which name people.
        settings.tracing.tracer = nil
        self.client = HTTPClient(
            eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: settings)
    }

    deinit { self.client.shutdown { _ in } }

    /// Sends a request and waits for its answer, up to its server's time limit.
    func send(_ request: PostbackRequest) async -> PostbackAnswer {
        do {
            let answer = try await self.answer(
                request.server.url + request.query, within: request.server.timeout)
            return PostbackAnswer(
                status: answer.status.code,
                retryAfter: answer.headers.first(name: "retry-after"), now: .now)
        } catch {
            return .unavailable(Self.reason(error))
        }
    }

    /// The answer to a GET, with its body read as far as it comes within the time.
    func answer(_ url: String, within timeout: Duration) async throws -> HTTPClientResponse {
        var message = HTTPClientRequest(url: url)
        message.headers.add(name: "accept", value: "*/*")
        message.headers.add(name: "user-agent", value: "sightline")
        let start = ContinuousClock.now
        let answer = try await self.client.execute(message, timeout: TimeAmount(timeout))
        let rest = timeout - start.duration(to: .now)
        // The status has decided: a body that is late, or not read, changes nothing.
        try? await withTimeLimit(rest) { await Self.drain(answer.body) }
        return answer
    }

    /// Whatever becomes of the body, the answer stands.
    private static func drain(_ body: HTTPClientResponse.Body) async {
        var bytes = 0
        do {
            for try await part in body {
                bytes += part.readableBytes
                if bytes > Self.maxBodyBytes { return }
            }
        } catch {
            // The connection has ended, and the next request gets another one.
        }
    }

    /// What failed, without the URL.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            error == .deadlineExceeded || error == .connectTimeout
                ? "no answer in time" : error.shortDescription
        case let error as IOError: "\(error)"
        default: "no connection (\(type(of: error)))"
        }
    }
}

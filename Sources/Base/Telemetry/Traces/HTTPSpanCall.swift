internal import AsyncHTTPClient
internal import CDeflate
internal import HTTPClients
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import SightlineProtos
internal import SwiftProtobuf
internal import WireFormat

/// OTLP over HTTP, in binary protobuf.
struct HTTPSpanCall: SpanCall {
    private let client: HTTPClient
    private let url: String
    private let headers: HTTPHeaders
    private let isCompressed: Bool

    /// The maximum bytes of an answer; it holds a count and a message.
    private static let maxAnswerBytes = 64 << 10

    init(_ client: HTTPClient, to endpoint: OTLPEndpoint, _ configuration: TracesConfiguration) {
        self.client = client
        self.url = endpoint.url
        var headers = HTTPHeaders([("content-type", "application/x-protobuf")])
        if configuration.isCompressed { headers.add(name: "content-encoding", value: "gzip") }
        for (name, value) in configuration.headers { headers.add(name: name, value: value) }
        self.headers = headers
        self.isCompressed = configuration.isCompressed
    }

    func export(
        _ spans: Request, within timeout: Duration
    ) async throws(SpanCallError) -> Response {
        var request = HTTPClientRequest(url: self.url)
        request.method = .POST
        request.headers = self.headers
        do {
            let bytes: [UInt8] = try spans.serializedBytes()
            request.body = .bytes(self.isCompressed ? Self.gzip(bytes) : bytes)
            return try await self.answer(to: request, within: timeout)
        } catch let error as SpanCallError {
            throw error
        } catch is BinaryDecodingError {
            // The receiver has accepted the spans; only its answer is in another encoding.
            return Response()
        } catch is TimeLimitPassed {
            throw SpanCallError(failure: .transient(retryAfter: nil), reason: "no answer in time")
        } catch let error as HTTPClientError {
            throw SpanCallError(
                failure: .transient(retryAfter: nil), reason: error.shortDescription)
        } catch {
            throw SpanCallError(
                failure: .transient(retryAfter: nil), reason: String(reasonOf: error))
        }
    }

    private func answer(
        to request: HTTPClientRequest, within timeout: Duration
    ) async throws -> Response {
        try await withTimeLimit(timeout) {
            // The limit ends the request earlier.
            let answer = try await self.client.execute(request, timeout: .hours(1))
            guard answer.status == .ok else { throw SpanCallError(answer.status, answer.headers) }
            let body = try await answer.body.collect(upTo: Self.maxAnswerBytes)
            // A cancelled body ends as if it were whole.
            try Task.checkCancellation()
            return try Response(serializedBytes: Array(body.readableBytesView))
        }
    }

    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        let capacity = sightline_gzip_bound(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = sightline_gzip(bytes, bytes.count, buffer.baseAddress, capacity)
        }
    }
}

extension SpanCallError {
    /// Classifies a status (OTLP specification, section Failures of OTLP/HTTP).
    init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        let isTransient = [429, 502, 503, 504].contains(status.code)
        let seconds = headers.first(name: "retry-after").flatMap(Int.init).map { max($0, 0) }
        self.init(
            failure: isTransient
                ? .transient(retryAfter: seconds.map { .seconds($0) }) : .permanent,
            reason: "HTTP \(status)")
    }
}

extension TracesConfiguration {
    /// The settings of an HTTP client, which has no connection yet.
    ///
    /// - Throws: the TLS library's error if its files are unusable.
    func makeHTTPConfiguration() throws -> HTTPClient.Configuration {
        var tls = TLSConfiguration.outbound(roots: self.rootsPath)
        if !self.certificatePath.isEmpty {
            tls.certificateChain = try NIOSSLCertificate.fromPEMFile(self.certificatePath)
                .map { .certificate($0) }
            tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: self.keyPath, format: .pem))
        }
        // The client would read the files only when it first connects; unusable ones must prevent
        // the start.
        _ = try NIOSSLContext(configuration: tls)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = TimeAmount(self.callTimeout)
        return configuration
    }
}

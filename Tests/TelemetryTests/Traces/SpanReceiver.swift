// An OTLP receiver over loopback that answers as a test tells it.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import SightlineProtos
internal import Synchronization

/// Keeps what it gets; errors stand for batches that it has not taken.
final class SpanReceiver: Opentelemetry_Proto_Collector_Trace_V1_TraceService.SimpleServiceProtocol
{
    typealias Request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest
    typealias Response = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse

    private let answers: Mutex<[Result<Response, RPCError>]>
    private let stream = AsyncStream.makeStream(of: Request.self)

    /// Answers calls by the script, in order, and takes all that comes after it.
    init(_ answers: [Result<Response, RPCError>] = []) { self.answers = Mutex(answers) }

    /// The calls, in order; for one reader.
    var requests: AsyncStream<Request> { self.stream.stream }

    func export(request: Request, context: ServerContext) async throws -> Response {
        let answer = self.answers.withLock { answers in
            answers.isEmpty ? .success(Response()) : answers.removeFirst()
        }
        self.stream.continuation.yield(request)
        return try answer.get()
    }

    /// Runs the receiver while `body` runs with its port.
    func run(_ body: (Int) async throws -> Void) async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
        try await withGRPCServer(transport: transport, services: [self]) { _ in
            try await body(try await transport.listeningAddress.ipv4?.port ?? 0)
        }
    }
}

extension SpanReceiver.Request {
    var spans: [Opentelemetry_Proto_Trace_V1_Span] {
        self.resourceSpans.flatMap(\.scopeSpans).flatMap(\.spans)
    }
}

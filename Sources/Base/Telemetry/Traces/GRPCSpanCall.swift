internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import SightlineProtos
internal import WireFormat

/// OTLP over gRPC.
struct GRPCSpanCall: SpanCall {
    typealias Transport = HTTP2ClientTransport.Posix

    private let service: Opentelemetry_Proto_Collector_Trace_V1_TraceService.Client<Transport>
    private let metadata: Metadata
    private let isCompressed: Bool

    init(_ client: GRPCClient<Transport>, _ configuration: TracesConfiguration) {
        self.service = .init(wrapping: client)
        self.isCompressed = configuration.isCompressed
        var metadata = Metadata()
        for (name, value) in configuration.headers { metadata.addString(value, forKey: name) }
        self.metadata = metadata
    }

    func export(
        _ request: Request, within timeout: Duration
    ) async throws(SpanCallError) -> Response {
        var options = CallOptions.defaults
        options.timeout = timeout
        options.compression = self.isCompressed ? .gzip : nil
        do {
            return try await self.service.export(
                request, metadata: self.metadata, options: options)
        } catch let error as RPCError {
            let reason = TLSFault(error)?.description ?? error.message
            throw SpanCallError(
                failure: ExportFailure(error), reason: "\(error.code): \(reason)")
        } catch {
            // The client was stopped during the call.
            throw SpanCallError(failure: .permanent, reason: String(reasonOf: error))
        }
    }
}

extension TracesConfiguration {
    /// Creates the transport to the endpoint.
    ///
    /// - Throws: the TLS library's error if its files are unusable.
    func makeTransport(to endpoint: OTLPEndpoint) throws -> GRPCSpanCall.Transport {
        try GRPCSpanCall.Transport(
            target: endpoint.target, transportSecurity: self.security(of: endpoint),
            config: .defaults { config in
                config.compression.enabledAlgorithms = self.isCompressed ? [.gzip] : .none
            })
    }

    private func security(
        of endpoint: OTLPEndpoint
    ) -> HTTP2ClientTransport.Posix.TransportSecurity {
        guard endpoint.isEncrypted else { return .plaintext }
        return .tls { config in
            if !self.rootsPath.isEmpty {
                config.trustRoots = .certificates([.file(path: self.rootsPath, format: .pem)])
            }
            if !self.certificatePath.isEmpty {
                config.certificateChain = [.file(path: self.certificatePath, format: .pem)]
                config.privateKey = .file(path: self.keyPath, format: .pem)
            }
        }
    }
}

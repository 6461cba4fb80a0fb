internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import SightlineProtos
internal import TrackingCore

/// Sends batches of spans to an OTLP receiver, with retries. Its calls create no spans, which would
/// be exported in turn, endlessly.
struct SpanClient {
    typealias Transport = HTTP2ClientTransport.Posix

    private let service: Opentelemetry_Proto_Collector_Trace_V1_TraceService.Client<Transport>
    private let configuration: TracesConfiguration
    private let clock: any Clock<Duration>
    private let metadata: Metadata

    init(
        _ client: GRPCClient<Transport>, _ configuration: TracesConfiguration,
        clock: any Clock<Duration>
    ) {
        self.service = .init(wrapping: client)
        self.configuration = configuration
        self.clock = clock
        var metadata = Metadata()
        for (name, value) in configuration.headers { metadata.addString(value, forKey: name) }
        self.metadata = metadata
    }

    /// The outcome of a batch.
    enum Outcome: Equatable {
        /// The receiver accepted it, except for `rejected` spans; `message` may be empty.
        case taken(rejected: Int, message: String)
        /// The batch was not delivered.
        case lost(reason: String)
    }

    /// Sends a batch until the receiver accepts or refuses it, the timeout is over, or the task is
    /// cancelled.
    func export(_ spans: [SpanRecord]) async -> Outcome {
        let request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest(
            spans, resource: self.configuration.resource)
        var backoff = Backoff(first: .seconds(1), longest: .seconds(16))
        var generator = SystemRandomNumberGenerator()
        var timeLeft = self.configuration.exportTimeout
        while true {
            var attempt = Attempt.taken(rejected: 0, message: "")
            timeLeft -= await self.clock.measure {
                attempt = await self.send(request, within: timeLeft)
            }
            switch attempt {
            case .taken(let rejected, let message):
                return .taken(rejected: min(max(rejected, 0), spans.count), message: message)
            case .failed(let error):
                guard case .transient(let retryAfter) = ExportFailure(error) else {
                    return .lost(reason: "\(error.code): \(error.message)")
                }
                let pause = retryAfter ?? backoff.next(using: &generator)
                timeLeft -= pause
                guard timeLeft > .zero, await self.wait(pause) else {
                    return .lost(
                        reason: "no time left; the last try: \(error.code): \(error.message)")
                }
            }
        }
    }

    private enum Attempt {
        case taken(rejected: Int, message: String)
        case failed(RPCError)
    }

    private func send(
        _ request: Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest,
        within timeLeft: Duration
    ) async -> Attempt {
        var options = CallOptions.defaults
        options.timeout = min(self.configuration.callTimeout, timeLeft)
        options.compression = self.configuration.isCompressed ? .gzip : nil
        do {
            let response = try await self.service.export(
                request, metadata: self.metadata, options: options)
            let partial = response.partialSuccess
            return .taken(
                rejected: Int(clamping: partial.rejectedSpans), message: partial.errorMessage)
        } catch let error as RPCError {
            return .failed(error)
        } catch {
            // The client was stopped during the call.
            return .failed(RPCError(code: .unknown, message: "\(error)"))
        }
    }

    /// Waits for a pause; false if the task is cancelled.
    private func wait(_ pause: Duration) async -> Bool {
        do {
            try await self.clock.sleep(for: pause)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}

extension TracesConfiguration {
    /// Creates the transport to the endpoint.
    ///
    /// - Throws: the TLS library's error if its files are unusable.
    func makeTransport(to endpoint: OTLPEndpoint) throws -> SpanClient.Transport {
        try SpanClient.Transport(
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

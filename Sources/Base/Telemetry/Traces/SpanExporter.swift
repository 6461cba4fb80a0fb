internal import AsyncHTTPClient
internal import GRPCCore
package import Logging
internal import ServiceLifecycle

/// Exports queued spans by OTLP, over gRPC or HTTP, in batches. A failing receiver never affects
/// the server: undelivered spans are dropped, counted and logged.
package struct SpanExporter: Service {
    /// Creates the spans to export.
    package let tracer: SpanTracer
    /// The outcomes of the spans.
    package let counts: SpanCounts
    private let configuration: TracesConfiguration
    private let queue: SpanQueue
    private let way: Way
    private let clock: any Clock<Duration>
    private let log: ExportLog

    /// Creates an exporter to an endpoint; sends nothing yet.
    ///
    /// - Parameter clock: measures delays, retries and the flush; tests substitute it.
    /// - Throws: the TLS library's error if its files are unusable.
    package init(
        to endpoint: OTLPEndpoint, _ configuration: TracesConfiguration, logger: Logger,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.configuration = configuration
        self.counts = SpanCounts()
        self.queue = SpanQueue(
            capacity: configuration.queueSpans, batchSize: configuration.batchSpans,
            counts: self.counts)
        self.tracer = SpanTracer(
            sampler: configuration.sampler, limits: configuration.limits, queue: self.queue)
        switch configuration.protocolName.resolved(for: endpoint) {
        case .grpc, .auto: self.way = .grpc(try configuration.makeTransport(to: endpoint))
        case .http: self.way = .http(endpoint, try configuration.makeHTTPConfiguration())
        }
        self.clock = clock
        self.log = ExportLog(logger: logger)
    }

    /// The protocol and its client.
    private enum Way {
        case grpc(GRPCSpanCall.Transport)
        case http(OTLPEndpoint, HTTPClient.Configuration)
    }

    /// Exports until shutdown, then flushes for up to `flushTimeout`. Never throws: a failing
    /// exporter must not end the server.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            switch self.way {
            case .grpc(let transport): await self.run(GRPCClient(transport: transport))
            case .http(let endpoint, let configuration):
                let client = HTTPClient(configuration: configuration)
                await self.exportUntilStopped(
                    by: HTTPSpanCall(client, to: endpoint, self.configuration))
                // It fails only if it was already shut down.
                try? await client.shutdown()
            }
        } onCancelOrGracefulShutdown: {
            self.queue.close()
        }
        self.dropRest()
        self.log.ended(self.counts)
    }

    private func run(_ client: GRPCClient<GRPCSpanCall.Transport>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await client.runConnections()
                } catch {
                    self.log.lost(0, reason: "no connection is made any longer: \(error)")
                }
            }
            await self.exportUntilStopped(by: GRPCSpanCall(client, self.configuration))
            client.beginGracefulShutdown()
            // Shutdown would wait for a connection attempt; cancel it.
            group.cancelAll()
        }
    }

    /// Returns once everything is sent after the shutdown, or the flush timeout is over.
    private func exportUntilStopped(by receiver: any SpanCall) async {
        let client = SpanClient(receiver, self.configuration, clock: self.clock)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.exportBatches(by: client) }
            group.addTask {
                // Cancelled if everything is sent earlier.
                try? await gracefulShutdown()
                try? await self.clock.sleep(for: self.configuration.flushTimeout)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func exportBatches(by client: SpanClient) async {
        while !Task.isCancelled {
            if self.queue.isOpen { await self.waitUntilDue() }
            // Read before taking the batch: nothing is added after the queue is closed.
            let isLast = !self.queue.isOpen
            repeat {
                let batch = self.queue.takeBatch()
                if batch.isEmpty { break }
                await self.export(batch, by: client)
            } while (self.queue.hasBatch || isLast) && !Task.isCancelled
            if isLast { return }
        }
    }

    /// Waits until a batch is full or the delay is over.
    private func waitUntilDue() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.queue.waitForBatch() }
            // Cancelled if the batch is full earlier.
            group.addTask { try? await self.clock.sleep(for: self.configuration.delay) }
            await group.next()
            group.cancelAll()
        }
    }

    private func export(_ batch: [SpanRecord], by client: SpanClient) async {
        switch await client.export(batch) {
        case .taken(let rejected, let message):
            self.counts.add(batch.count - rejected, .exported)
            self.counts.add(rejected, .rejected)
            self.log.taken(rejected: rejected, message: message)
        case .lost(let reason):
            self.counts.add(batch.count, .failed)
            self.log.lost(batch.count, reason: reason)
        }
    }

    private func dropRest() {
        while case let batch = self.queue.takeBatch(), !batch.isEmpty {
            self.counts.add(batch.count, .stopped)
        }
    }
}

// The exporter: sends what the tracer's spans leave in the queue, a batch at a time.
internal import GRPCCore
package import Logging
internal import ServiceLifecycle

/// Exports spans by OTLP over gRPC while it runs. Its receiver's troubles are never the server's:
/// what cannot be sent is lost, counted and told of in the log.
package struct SpanExporter: Service {
    /// Makes the spans that are exported.
    package let tracer: SpanTracer
    /// What became of them.
    package let counts: SpanCounts
    private let configuration: TracesConfiguration
    private let queue: SpanQueue
    private let transport: SpanClient.Transport
    private let clock: any Clock<Duration>
    private let log: ExportLog

    /// An exporter to an endpoint; nothing is sent yet.
    ///
    /// - Parameter clock: measures delays, retries and the flush; tests give their own.
    /// - Throws: what the TLS library says of files that it cannot use.
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
        self.transport = try configuration.makeTransport(to: endpoint)
        self.clock = clock
        self.log = ExportLog(logger: logger)
    }

    /// Exports until shutdown; then what waits is still sent for `flushTimeout`. Throws nothing:
    /// an exporter that fails ends no server.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            let client = GRPCClient(transport: self.transport)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await client.runConnections()
                    } catch {
                        self.log.lost(0, reason: "no connection is made any longer: \(error)")
                    }
                }
                await self.exportUntilStopped(by: client)
                client.beginGracefulShutdown()
                // A connection that is being made would be waited for.
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            self.queue.close()
        }
        self.dropRest()
        self.log.ended(self.counts)
    }

    /// Ends when all is sent after the shutdown, or else the time for it is over.
    private func exportUntilStopped(by client: GRPCClient<SpanClient.Transport>) async {
        let client = SpanClient(client, self.configuration, clock: self.clock)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.exportBatches(by: client) }
            group.addTask {
                // Both end early when all is sent first.
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
            // Before the batch is taken: none comes after the last.
            let isLast = !self.queue.isOpen
            repeat {
                let batch = self.queue.takeBatch()
                if batch.isEmpty { break }
                await self.export(batch, by: client)
            } while (self.queue.hasBatch || isLast) && !Task.isCancelled
            if isLast { return }
        }
    }

    /// Waits until a batch is whole, or the delay is over.
    private func waitUntilDue() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.queue.waitForBatch() }
            // Cut short when a batch is whole first.
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

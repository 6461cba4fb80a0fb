// The sink for a backend in any language: hits over a stream of gRPC, with acks.
package import ConfigurationKeys
internal import SightlineProtos
package import SinkKit
internal import Synchronization
package import TrackingRules
internal import WireFormat

/// Sends each batch in messages over a stream that stays open, and has delivered it when the
/// backend has acknowledged its last position. After a break the backend tells in its Welcome how
/// far it is, and the rest is sent.
package actor GRPCSink: ResumableSink, PositionedSink, ProbeableSink {
    /// "grpc".
    package nonisolated let name = "grpc"
    /// At least the window, so that a backend which gathers hits gets as many as it may hold; of
    /// hits several windows, since at the end of a batch nothing is under way until its last ack
    /// has come.
    package nonisolated var maxBatch: BatchLimit {
        let configuration = self.backend.configuration
        return BatchLimit(
            hits: 4 * configuration.windowHits,
            bytes: max(BatchLimit.standard.bytes, configuration.windowBytes))
    }

    nonisolated let backend: Backend
    nonisolated let listedName: String
    private nonisolated let keptToken = Mutex<BackendResumeToken?>(nil)
    nonisolated let journal = Mutex<JournalGroups?>(nil)
    /// A position that the journal does not have so, and that was told.
    private var disproved: HitPosition?
    var stream: DeliverStream?
    /// The group up to which the server needs no refusal of a journal again.
    var settled: (journal: String, sequence: Int64)?
    /// Until when nothing is sent, because the backend asked for it.
    var busyUntil: ContinuousClock.Instant?

    /// A sink that connects with its first batch.
    ///
    /// - Parameter name: the sink's name in the configuration, which the backend is told.
    /// - Throws: `ConfigurationError` if a file of TLS or the key cannot be used.
    package init(
        _ configuration: GRPCConfiguration, name: String = "grpc"
    ) throws(ConfigurationError) {
        self.backend = try Backend(configuration)
        self.listedName = name
    }

    deinit { self.stream?.close(inOrder: false) }

    /// The journal and the newest position in it that the backend acknowledged.
    package nonisolated var resumeToken: String { self.keptToken.withLock { $0?.text ?? "" } }

    /// Goes on from there: the next Welcome tells whether the backend still has it.
    package nonisolated func resume(at token: String) {
        self.keptToken.withLock { $0 = BackendResumeToken(token) }
    }

    /// Proves the positions that a backend names by these groups.
    package nonisolated func use(_ groups: JournalGroups) {
        self.journal.withLock { $0 = groups }
    }

    /// Sends a batch and waits for its acks.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await self.deliver(hits, quotes: false)
    }

    /// - Parameter quotes: whether a failure is told with the backend's own words, which may name a
    ///   person. Reasons of refused hits have them always: they are kept with the hit.
    func deliver(_ hits: HitBatch, quotes: Bool) async -> SinkAnswer {
        if let rest = self.busyRest { return .unavailable(reason: rest) }
        do {
            // Nothing of a batch is sent that cannot be read to its end.
            try hits.forEachEvent { _, _ in }
            return hits.hitCount == 0 ? .delivered : try await self.send(hits)
        } catch let loss as BackendLoss {
            self.close()
            self.keptToken.withLock { $0 = nil }
            let quote = quotes && !loss.quote.isEmpty ? ": \(loss.quote)" : ""
            return .dataLoss(reason: "the backend: \(loss.reason)\(quote)")
        } catch let ahead as BackendAhead {
            self.close()
            return .suspended(reason: "\(self.place)\(ahead)")
        } catch let busy as BackendBusy {
            self.close()
            self.busyUntil = busy.end
            return .unavailable(reason: "the backend is busy")
        } catch let failure as BackendFailure where quotes {
            self.close()
            return .unavailable(reason: self.place + failure.whole)
        } catch {
            self.close()
            return SinkAnswer(failure: error, of: self.place)
        }
    }

    /// That the backend has asked for time, while it is not over.
    var busyRest: String? {
        guard let busyUntil, ContinuousClock.now < busyUntil else { return nil }
        let left = ContinuousClock.now.duration(to: busyUntil).components.seconds + 1
        return "the backend is busy: \(left) s are left"
    }

    /// What the reason of a failure begins with.
    var place: String { "the backend \(self.backend.configuration.target): " }

    func close() {
        self.stream?.close(inOrder: false)
        self.stream = nil
    }

    private func send(_ hits: HitBatch) async throws -> SinkAnswer {
        let (stream, welcome) = try await self.openStream(for: hits)
        var batch = DeliveredBatch(hits, after: stream.durable)
        batch.refuse(stream.takeRefused(through: hits.sequence))
        var writer = RecordBatchWriter(maxBytes: welcome.limits.messageBytes)
        // Sent once the next one is known: it says whether that fits into the window.
        var held: RecordBatchMessage?
        for group in hits.groups {
            try batch.append(group, to: &writer)
            try await self.send(writer.takeReady(), on: stream, holding: &held)
        }
        writer.finish()
        try await self.send(writer.takeReady(), on: stream, holding: &held)
        if let held { try await stream.send(held, before: nil) }
        try await stream.settle()
        batch.refuse(stream.takeRefused(through: hits.sequence))
        if let durable = stream.durable, !hits.isReplay {
            self.keptToken.withLock {
                $0 = BackendResumeToken(journal: hits.journal, position: durable)
            }
        }
        return SinkAnswer(rejected: batch.rejected)
    }

    private func send(
        _ messages: [RecordBatchMessage], on stream: DeliverStream,
        holding held: inout RecordBatchMessage?
    ) async throws {
        for message in messages {
            if let held { try await stream.send(held, before: message) }
            held = message
        }
    }

    /// The stream of the batch's journal: the one that is open, or a new one.
    private func openStream(
        for hits: HitBatch
    ) async throws -> (DeliverStream, DeliverState.Welcome) {
        let settled = max(0, (hits.groups.first?.sequence ?? 1) - 1)
        self.settled = (hits.journal, settled)
        if let stream {
            if let loss = stream.loss { throw loss }
            if stream.isUsable, stream.journal == hits.journal {
                return (stream, try await stream.open(within: .zero))
            }
            stream.close(inOrder: true)
            self.stream = nil
        }
        let stream = try self.connect(hits.journal, settled: settled)
        self.stream = stream
        let welcome = try await stream.open(within: self.backend.configuration.connectTimeout)
        try self.checkForLoss(stream)
        try await self.proveProgress(of: stream, before: hits)
        return (stream, welcome)
    }

    /// Connects, and says Hello for a journal.
    ///
    /// - Parameter settled: the group up to which no refusal is needed again.
    func connect(_ journal: String, settled: Int64) throws -> DeliverStream {
        var hello = Sightline_V1_Hello()
        hello.versions = [DeliverState.version]
        hello.capabilities = [.refusals, .erasure]
        hello.journalID = journal
        hello.sink = self.listedName
        hello.settledSequence = UInt64(settled)
        return try DeliverStream(hello, self.backend)
    }

    /// Looks whether the journal has the position of Welcome, where hits of a batch would be left
    /// out for it. A position beyond the newest group ends the delivery. If its group is another
    /// one, that is told once, and then everything is sent.
    private func proveProgress(of stream: DeliverStream, before hits: HitBatch) async throws {
        guard let durable = stream.durable, let first = hits.groups.first,
            durable.sequence >= first.sequence
        else { return }
        // A replay's journal has no other groups.
        let journal = hits.isReplay ? nil : self.journal.withLock { $0 }
        let newest = max(hits.sequence, journal?.newest() ?? 0)
        guard durable.sequence <= newest else {
            throw BackendAhead(durable: durable, journal: hits.journal, newest: newest)
        }
        var group: HitBatch? = hits
        if durable.sequence > hits.sequence { group = await journal?.group(durable.sequence) }
        // A group that cannot be read proves nothing.
        if let group, (try? group.has(durable)) == true { return }
        stream.forgetProgress()
        if self.disproved == durable { return }
        self.disproved = durable
        throw BackendFailure(
            "its Welcome says that it has hits up to \(durable) of the journal \(hits.journal), "
                + "but that group has other hits: the sink's filter was changed, or the journal is "
                + "an older copy of what it was "
                + "(\(Documentation.page("operations.md#restore"))). All from \(first.sequence) on "
                + "is sent, also what it may have")
    }

    /// A backend that is behind what it had acknowledged has lost hits.
    private func checkForLoss(_ stream: DeliverStream) throws {
        let kept = self.keptToken.withLock { $0 }
        guard let kept, kept.journal == stream.journal else { return }
        if let durable = stream.durable, kept.position <= durable { return }
        let durable = stream.durable.map { "has hits up to \($0)" } ?? "has no hits"
        throw BackendLoss(
            reason: "it \(durable) of the journal \(kept.journal), but had acknowledged "
                + "\(kept.position)")
    }
}

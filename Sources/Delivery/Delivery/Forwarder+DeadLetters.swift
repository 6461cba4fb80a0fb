// What a sink never gets, or refuses, becomes dead letters before the cursor passes it.
internal import Logging
internal import Pacing
internal import SinkKit
internal import TrackingJournal

extension Forwarder {
    /// - Parameters:
    ///   - reasons: by position among the hits that pass the filter.
    ///   - hits: the whole batch: a letter has its position in it, whatever the filter is then.
    func keep(
        rejected reasons: [Int: String], of hits: HitBatch, _ filter: HitFilter?,
        _ shutdown: ForwarderShutdown
    ) async -> Outcome {
        await self.keep(shutdown) {
            var reasons = reasons
            if let filter {
                let positions = try hits.positions(passing: filter)
                let known = reasons.filter { positions.indices.contains($0.key) }
                reasons = Dictionary(
                    uniqueKeysWithValues: known.map { (positions[$0.key], $0.value) })
            }
            try await self.deadLetters.keep(hits, reasons: reasons, sink: self.name)
            self.metrics.kept(reasons.count)
            self.log(reasons, of: hits)
        }
    }

    /// Says at most once a minute for each reason that there are letters, and where the first is.
    private func log(_ reasons: [Int: String], of hits: HitBatch) {
        self.log(
            self.deadLetterLog.note(reasons, at: self.journal.wallTime) { position in
                let group = hits.groups.first { $0.positions.contains(position) }
                return group?.sequence ?? hits.sequence
            })
    }

    /// Says which letters were held back for a minute.
    func logHeldLetters() {
        self.log(self.deadLetterLog.note([:], at: self.journal.wallTime) { _ in 0 })
    }

    /// Says at the stop which letters were held back.
    func logRestOfLetters() { self.log(self.deadLetterLog.rest()) }

    private func log(_ records: [DeadLetterLog.Record]) {
        for record in records {
            self.logger.warning(
                "hits were refused and are dead letters, `sightline tail --rejected` says why",
                metadata: [
                    "sink": "\(self.name)", "letters": .stringConvertible(record.letters),
                    "sequence": .stringConvertible(record.sequence),
                ])
        }
    }

    /// What stands for hits that are lost becomes one letter.
    func keep(missing batch: JournalBatch, _ shutdown: ForwarderShutdown) async -> Outcome {
        let sequences = batch.loss?.sequences ?? batch.sequence...batch.sequence
        let isGap = batch.loss?.cause == .release
        self.logger.critical(
            isGap
                ? "the journal released these groups before the sink had them: it never gets them"
                : "a batch is damaged and cannot be delivered",
            metadata: [
                "sink": "\(self.name)", "first_sequence": .stringConvertible(sequences.lowerBound),
                "sequence": .stringConvertible(batch.sequence),
                "events": Self.count(batch.loss?.eventCount),
                "hits": Self.count(batch.loss?.hitCount),
            ])
        return await self.keep(shutdown) {
            try await self.deadLetters.keep(
                damaged: batch, of: self.journal.identity, sink: self.name)
            self.metrics.kept(1)
            if isGap { self.metrics.missed(batch.loss?.hitCount ?? 0) }
        }
    }

    /// The readable hits become letters of their own, whether a filter wants them or not: without
    /// the whole it is not known which it would.
    func keep(
        unreadable hits: HitBatch, _ reason: String, _ shutdown: ForwarderShutdown
    ) async -> Outcome {
        self.logger.critical(
            "a batch cannot be read, and its hits are kept as dead letters",
            metadata: [
                "sink": "\(self.name)", "sequence": .stringConvertible(hits.sequence),
                "reason": "\(reason)",
            ])
        return await self.keep(shutdown) {
            self.metrics.kept(
                try await self.deadLetters.keep(
                    unreadable: hits, reason: reason, sink: self.name))
        }
    }

    private static func count(_ count: Int?) -> Logger.MetadataValue {
        count.map { .stringConvertible($0) } ?? "unknown"
    }

    /// Writes dead letters, with retries: no hit is passed over before it is stored.
    private func keep(
        _ shutdown: ForwarderShutdown, _ write: () async throws -> Void
    ) async -> Outcome {
        var backoff = Backoff()
        while true {
            do {
                try await write()
                return .settled
            } catch {
                guard await self.wait(&backoff, "dead letters: \(error)", shutdown) else {
                    return .stopped
                }
            }
        }
    }
}

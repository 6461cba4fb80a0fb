internal import Foundation
internal import ServiceLifecycle
package import SinkKit

/// Delivers a sink's dead letters again, to the same sink or another, after the cause was fixed.
///
/// A letter is deleted after its delivery. A crash in between delivers it twice; sinks that
/// deduplicate by hit id keep one.
package struct Replay {
    private let deadLetters: DeadLetters
    private let refuser: String
    private let sink: any Sink
    private let batchLetters: Int
    private let journal = HitBatch.replayJournal(UUID().uuidString.lowercased())

    /// The number of letters in one delivery, unless another one is given.
    package static let batchLetters = 100
    /// How often a batch is delivered again to a sink that reports a loss.
    private static let maxLosses = 2

    /// Creates a replay of the letters that the sink `refuser` rejected.
    ///
    /// - Parameter batchLetters: the number of letters in one delivery; a simulation passes fewer.
    package init(
        of deadLetters: DeadLetters, refusedBy refuser: String, to sink: any Sink,
        batchLetters: Int = Self.batchLetters
    ) {
        self.deadLetters = deadLetters
        self.refuser = refuser
        self.sink = sink
        self.batchLetters = batchLetters
    }

    /// The outcome of a replay.
    package struct Counts: Sendable, Equatable, Codable {
        /// Letters delivered.
        package var delivered = 0
        /// Letters refused again; they are kept with their new reason.
        package var refused = 0
        /// Letters without a hit, such as damaged batches; they are kept.
        package var unreadable = 0

        /// Creates counts.
        package init(delivered: Int = 0, refused: Int = 0, unreadable: Int = 0) {
            (self.delivered, self.refused, self.unreadable) = (delivered, refused, unreadable)
        }
    }

    /// Delivers at most `limit` letters, oldest first.
    ///
    /// - Throws: `ReplayInterruption` if the sink is unavailable or the server stops, or SQLite's
    ///   error. Letters delivered before are not delivered again.
    package func run(limit: Int = .max) async throws -> Counts {
        var counts = Counts()
        var lastID: Int64 = 0
        var sequence: Int64 = 0
        var left = limit
        while left > 0 {
            if Task.isStopping {
                throw ReplayInterruption(
                    sink: self.sink.name, reason: Task.stopReason, counts: counts)
            }
            let letters = try await self.deadLetters.letters(
                of: self.refuser, after: lastID, limit: min(left, self.batchLetters))
            guard let last = letters.last else { break }
            sequence += 1
            try await self.deliver(letters, sequence: sequence, &counts)
            lastID = last.id
            left -= letters.count
        }
        return counts
    }

    private func deliver(
        _ letters: [DeadLetter], sequence: Int64, _ counts: inout Counts
    ) async throws {
        var readable: [DeadLetter] = []
        var payload: [UInt8] = []
        for letter in letters {
            guard let block = letter.payload() else { continue }
            readable.append(letter)
            payload += block
        }
        counts.unreadable += letters.count - readable.count
        guard !readable.isEmpty else { return }
        let hits = HitBatch(journal: self.journal, sequence: sequence, payload: payload)
        var refused: [Int64: String] = [:]
        for (position, reason) in try await self.reasons(hits, of: readable.count, counts)
        where readable.indices.contains(position) {
            refused[readable[position].id] = reason
        }
        try await self.deadLetters.settle(readable, of: hits, refused: refused)
        counts.refused += refused.count
        counts.delivered += readable.count - refused.count
    }

    /// Delivers a batch; returns the reasons of rejected hits by position.
    private func reasons(
        _ hits: HitBatch, of count: Int, _ counts: Counts
    ) async throws -> [Int: String] {
        var losses = 0
        while true {
            switch await self.sink.deliver(hits) {
            case .delivered: return [:]
            case .rejected(let reasons): return reasons
            case .unreadable(let reason):
                return Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, reason) })
            case .unavailable(let reason), .progressed(let reason), .suspended(let reason):
                throw ReplayInterruption(sink: self.sink.name, reason: reason, counts: counts)
            case .dataLoss(let reason):
                losses += 1
                guard losses <= Self.maxLosses else {
                    throw ReplayInterruption(sink: self.sink.name, reason: reason, counts: counts)
                }
            }
        }
    }
}

/// Why a replay stopped early.
package struct ReplayInterruption: Error, CustomStringConvertible {
    /// The sink's name.
    package let sink: String
    /// The sink's reason.
    package let reason: String
    /// The outcome up to then.
    package let counts: Replay.Counts

    /// What happened, and the fix, in one line.
    package var description: String {
        "the replay to the sink \(self.sink) stopped: \(self.reason). "
            + "\(self.counts.delivered) letters were delivered before that, and the others are "
            + "kept: replay them again"
    }
}

extension Task<Never, Never> {
    /// Whether a replay has to end: a server that stops waits for it.
    static var isStopping: Bool { self.isCancelled || self.isShuttingDownGracefully }
    /// Why it ends then.
    static let stopReason = "the server is stopping"
}

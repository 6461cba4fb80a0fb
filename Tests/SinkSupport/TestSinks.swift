// Sinks that do what a test tells them.
internal import SightlineProtos
package import SinkKit
internal import Synchronization
package import TrackingRules

/// Keeps the sequence of every batch it is given, and takes it.
package final class RecordingSink: Sink {
    package let name = "recording"
    package let maxBatch: BatchLimit
    private let taken = Mutex<[HitBatch]>([])

    package init(maxBatch: BatchLimit = .oneGroup) { self.maxBatch = maxBatch }

    package var batches: [HitBatch] { self.taken.withLock { $0 } }
    package var sequences: [Int64] { self.batches.map(\.sequence) }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.taken.withLock { $0.append(hits) }
        return .delivered
    }
}

/// Takes everything, and cancels its caller: the server ends.
package struct LastSink: Sink {
    package let name = "last"

    package init() {}

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        withUnsafeCurrentTask { $0?.cancel() }
        return .delivered
    }
}

/// Gives the answers that it was made with, one for each delivery, and then takes everything.
package final class FailingSink: Sink {
    package let name = "failing"
    package let maxBatch = BatchLimit.oneGroup
    private let state: Mutex<(answers: [SinkAnswer], sequences: [Int64])>

    package init(_ answers: [SinkAnswer]) { self.state = Mutex((answers, [])) }

    /// The sequence of every attempt.
    package var sequences: [Int64] { self.state.withLock { $0.sequences } }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.state.withLock { state in
            state.sequences.append(hits.sequence)
            return state.answers.isEmpty ? .delivered : state.answers.removeFirst()
        }
    }
}

/// Does not answer until its delivery is cancelled.
package final class SilentSink: Sink {
    package let name = "silent"
    package let maxBatch = BatchLimit.oneGroup
    private let asked = AsyncStream.makeStream(of: Int64.self)
    private let cancelled = Mutex<[Int64]>([])

    package init() {}

    /// The sequences of batches whose delivery was cancelled.
    package var cancellations: [Int64] { self.cancelled.withLock { $0 } }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.asked.continuation.yield(hits.sequence)
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
        self.cancelled.withLock { $0.append(hits.sequence) }
        return .unavailable(reason: "no answer")
    }

    /// Waits until a batch is there.
    package func waitUntilAsked() async {
        for await _ in self.asked.stream { return }
    }
}

/// Takes nothing, ever.
package struct UnavailableSink: Sink {
    package let name: String

    package init(name: String) { self.name = name }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        .unavailable(reason: "it is down")
    }
}

/// Loses everything when it is first given one of some sequences, and has a token.
package final class LosingSink: ResumableSink {
    package let name = "losing"
    package let maxBatch: BatchLimit
    private let state: Mutex<(losses: Set<Int64>, sequences: [Int64], resumed: [String])>

    package init(losses: Set<Int64>, maxBatch: BatchLimit = .oneGroup) {
        self.maxBatch = maxBatch
        self.state = Mutex((losses, [], []))
    }

    /// The sequence of every attempt.
    package var sequences: [Int64] { self.state.withLock { $0.sequences } }
    /// Every token that it was resumed at.
    package var resumed: [String] { self.state.withLock { $0.resumed } }
    package var resumeToken: String { "token \(self.sequences.last ?? 0)" }

    package func resume(at token: String) { self.state.withLock { $0.resumed.append(token) } }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.state.withLock { state in
            state.sequences.append(hits.sequence)
            let isLost = state.losses.remove(hits.sequence) != nil
            return isLost ? .dataLoss(reason: "the disk was lost") : .delivered
        }
    }
}

/// Takes each hit unless it is told to refuse it, and no batch with certain groups.
package final class ChoosySink: Sink {
    package let name = "choosy"
    package let maxBatch: BatchLimit
    private let refused: @Sendable (Hit) -> Bool
    private let unreadable: Set<Int64>
    private let tried = Mutex<[[Int64]]>([])

    package init(
        maxBatch: BatchLimit, unreadable: Set<Int64> = [],
        refusing refused: @escaping @Sendable (Hit) -> Bool = { _ in false }
    ) {
        self.maxBatch = maxBatch
        self.unreadable = unreadable
        self.refused = refused
    }

    /// The groups of every attempt.
    package var attempts: [[Int64]] { self.tried.withLock { $0 } }

    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let groups = hits.groups.map(\.sequence)
        self.tried.withLock { $0.append(groups) }
        guard self.unreadable.isDisjoint(with: groups) else {
            return .unreadable(reason: "it says what nobody knows")
        }
        var reasons: [Int: String] = [:]
        do {
            try hits.forEach { position, hit in
                if self.refused(hit) { reasons[position] = "no such delivery" }
            }
        } catch {
            return SinkAnswer(failure: error)
        }
        return SinkAnswer(rejected: reasons)
    }
}

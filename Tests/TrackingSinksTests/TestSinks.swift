// Sinks that do what a test tells them.
internal import SightlineProtos
internal import SinkKit
internal import Synchronization
internal import TrackingRules

/// Keeps the sequence of every batch it is given, and takes it.
final class RecordingSink: Sink {
    let name = "recording"
    let maxBatch: BatchLimit
    private let taken = Mutex<[HitBatch]>([])

    init(maxBatch: BatchLimit = .oneGroup) { self.maxBatch = maxBatch }

    var batches: [HitBatch] { self.taken.withLock { $0 } }
    var sequences: [Int64] { self.batches.map(\.sequence) }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.taken.withLock { $0.append(hits) }
        return .delivered
    }
}

/// Takes everything, and cancels its caller: the server ends.
struct LastSink: Sink {
    let name = "last"

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        withUnsafeCurrentTask { $0?.cancel() }
        return .delivered
    }
}

/// Gives the answers that it was made with, one for each delivery, and then takes everything.
final class FailingSink: Sink {
    let name = "failing"
    let maxBatch = BatchLimit.oneGroup
    private let state: Mutex<(answers: [SinkAnswer], sequences: [Int64])>

    init(_ answers: [SinkAnswer]) { self.state = Mutex((answers, [])) }

    /// The sequence of every attempt.
    var sequences: [Int64] { self.state.withLock { $0.sequences } }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.state.withLock { state in
            state.sequences.append(hits.sequence)
            return state.answers.isEmpty ? .delivered : state.answers.removeFirst()
        }
    }
}

/// Does not answer until its delivery is cancelled.
final class SilentSink: Sink {
    let name = "silent"
    let maxBatch = BatchLimit.oneGroup
    private let asked = AsyncStream.makeStream(of: Int64.self)
    private let cancelled = Mutex<[Int64]>([])

    /// The sequences of batches whose delivery was cancelled.
    var cancellations: [Int64] { self.cancelled.withLock { $0 } }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.asked.continuation.yield(hits.sequence)
        for await _ in AsyncStream.makeStream(of: Never.self).stream {}
        self.cancelled.withLock { $0.append(hits.sequence) }
        return .unavailable(reason: "no answer")
    }

    /// Waits until a batch is there.
    func waitUntilAsked() async {
        for await _ in self.asked.stream { return }
    }
}

/// Takes nothing, ever.
struct UnavailableSink: Sink {
    let name: String

    func deliver(_ hits: HitBatch) async -> SinkAnswer { .unavailable(reason: "it is down") }
}

/// Loses everything when it is first given one of some sequences, and has a token.
final class LosingSink: ResumableSink {
    let name = "losing"
    let maxBatch: BatchLimit
    private let state: Mutex<(losses: Set<Int64>, sequences: [Int64], resumed: [String])>

    init(losses: Set<Int64>, maxBatch: BatchLimit = .oneGroup) {
        self.maxBatch = maxBatch
        self.state = Mutex((losses, [], []))
    }

    /// The sequence of every attempt.
    var sequences: [Int64] { self.state.withLock { $0.sequences } }
    /// Every token that it was resumed at.
    var resumed: [String] { self.state.withLock { $0.resumed } }
    var resumeToken: String { "token \(self.sequences.last ?? 0)" }

    func resume(at token: String) { self.state.withLock { $0.resumed.append(token) } }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        self.state.withLock { state in
            state.sequences.append(hits.sequence)
            let isLost = state.losses.remove(hits.sequence) != nil
            return isLost ? .dataLoss(reason: "the disk was lost") : .delivered
        }
    }
}

/// Takes each hit unless it is told to refuse it, and no batch with certain groups.
final class ChoosySink: Sink {
    let name = "choosy"
    let maxBatch: BatchLimit
    private let refused: @Sendable (Hit) -> Bool
    private let unreadable: Set<Int64>
    private let tried = Mutex<[[Int64]]>([])

    init(
        maxBatch: BatchLimit, unreadable: Set<Int64> = [],
        refusing refused: @escaping @Sendable (Hit) -> Bool = { _ in false }
    ) {
        self.maxBatch = maxBatch
        self.unreadable = unreadable
        self.refused = refused
    }

    /// The groups of every attempt.
    var attempts: [[Int64]] { self.tried.withLock { $0 } }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
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

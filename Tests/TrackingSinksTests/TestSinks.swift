// Sinks that do what a test tells them.
internal import SightlineProtos
internal import Synchronization
internal import TrackingSinks

/// Keeps the sequence of every batch it is given, and takes it.
final class RecordingSink: Sink {
    let name = "recording"
    private let taken = Mutex<[HitBatch]>([])

    var batches: [HitBatch] { self.taken.withLock { $0 } }
    var sequences: [Int64] { self.batches.map(\.sequence) }

    func deliver(_ hits: HitBatch) async -> Delivery {
        self.taken.withLock { $0.append(hits) }
        return .delivered
    }
}

/// Gives the answers that it was made with, one for each delivery, and then takes everything.
final class FailingSink: Sink {
    let name = "failing"
    private let state: Mutex<(answers: [Delivery], sequences: [Int64])>

    init(_ answers: [Delivery]) { self.state = Mutex((answers, [])) }

    /// The sequence of every attempt.
    var sequences: [Int64] { self.state.withLock { $0.sequences } }

    func deliver(_ hits: HitBatch) async -> Delivery {
        self.state.withLock { state in
            state.sequences.append(hits.sequence)
            return state.answers.isEmpty ? .delivered : state.answers.removeFirst()
        }
    }
}

/// Takes nothing, ever.
struct UnavailableSink: Sink {
    let name: String

    func deliver(_ hits: HitBatch) async -> Delivery { .unavailable(reason: "it is down") }
}

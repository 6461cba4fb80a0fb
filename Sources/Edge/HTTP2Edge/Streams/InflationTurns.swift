/// Decides when the messages of a compressed call are inflated: in batches, each of which the
/// reader has asked for, and in turns, between which the event loop serves its other streams. It is
/// a value and knows neither the messages nor the inflater.
struct InflationTurns {
    /// The inflated bytes that pass in one batch. The reader's queue holds about ten batches.
    static let batchBytes = 64 << 10
    /// The minimum cost of a message in bytes, since an empty one takes work too.
    static let leastBytes = 128
    /// The bytes that a stream may inflate in a turn.
    static let turnBytes = 256 << 10

    /// What to do next in a turn.
    enum Step: Equatable {
        case inflate
        /// The batch is over: the reader may process it and ask for another. After the last batch
        /// of a turn the stream pauses.
        case endBatch(rests: Bool)
    }

    /// The number of messages inflated so far.
    private(set) var count = 0
    /// Whether the next message is incomplete. Complete messages may wait for the reader without
    /// limit.
    private(set) var isStarved = false

    /// Whether the reader has demand.
    private var isWanted = false
    /// Whether the client has half-closed and the reader does not know it yet.
    private var endIsDue = false
    private var state = State.idle

    private enum State: Equatable {
        case idle
        /// The bytes of the batch and of the turn's earlier batches, and whether the batch is over.
        case inflating(batch: Int, turn: Int, isOver: Bool)
        case resting
    }

    /// Whether the reader has demand that no bytes at hand can satisfy.
    var needsBytes: Bool { self.isWanted && self.state == .idle }

    /// Compressed bytes have arrived.
    mutating func receive(isEnd: Bool) {
        self.endIsDue = isEnd
        self.isWanted = true
    }

    /// The reader has demand.
    mutating func receiveDemand() { self.isWanted = true }

    /// Begins a turn; false during a turn or a pause.
    mutating func begin() -> Bool {
        guard self.state == .idle else { return false }
        self.state = .inflating(batch: 0, turn: 0, isOver: false)
        return true
    }

    /// The next step of the turn; nil if it is over, for now or until `endRest`.
    mutating func next() -> Step? {
        guard case .inflating(let batch, let turn, let isOver) = self.state else { return nil }
        guard self.isWanted else {
            self.state = .idle
            return nil
        }
        guard isOver else { return .inflate }
        self.isWanted = false
        let rests = turn &+ batch >= Self.turnBytes
        self.state =
            rests ? .resting : .inflating(batch: 0, turn: turn &+ batch, isOver: false)
        return .endBatch(rests: rests)
    }

    /// A message of so many bytes was inflated.
    mutating func take(_ bytes: Int) {
        self.count &+= 1
        self.isStarved = false
        guard case .inflating(let batch, let turn, _) = self.state else { return }
        let sum = batch &+ max(Self.leastBytes, bytes)
        self.state = .inflating(batch: sum, turn: turn, isOver: sum >= Self.batchBytes)
    }

    /// No complete message is left. Returns whether the reader must learn of the half-close now.
    ///
    /// - Parameter hasRest: whether an incomplete message has begun.
    mutating func starve(hasRest: Bool) -> Bool {
        self.isStarved = hasRest
        guard case .inflating(let batch, let turn, _) = self.state else { return false }
        guard batch > 0 || self.endIsDue else {
            self.state = .idle
            return false
        }
        self.state = .inflating(batch: batch, turn: turn, isOver: true)
        guard batch == 0 else { return false }
        self.endIsDue = false
        return true
    }

    /// Ends a pause.
    mutating func endRest() { self.state = .idle }
}

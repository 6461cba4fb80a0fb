// What one stream of a load has under way. Pure: bounded by the window, told the time.

/// Requests of one stream between their start and their ack.
struct BenchFlow: Sendable {
    /// The last request's sequence; 0 before the first.
    private(set) var sequence: UInt64 = 0
    /// Up to where the server has acked.
    private(set) var settled: UInt64 = 0
    /// Whether the server has said that it will end the stream.
    var isClosing = false
    /// Whether the stream has ended.
    var isEnded = false
    /// Moments of the requests under way, by sequence modulo the window.
    private var started: [Duration]

    init(window: Int) { self.started = Array(repeating: .zero, count: window) }

    /// Requests under way.
    var underWay: Int { Int(truncatingIfNeeded: self.sequence &- self.settled) }

    /// Whether another request may be sent.
    var hasRoom: Bool { self.underWay < self.started.count }

    /// Takes a request in that counts from `moment`, and gives its sequence. Needs `hasRoom`.
    mutating func begin(at moment: Duration) -> UInt64 {
        self.sequence &+= 1
        self.started[self.place(of: self.sequence)] = moment
        return self.sequence
    }

    /// Notes an ack at `moment`; gives the latency of every request that it settles. A sequence
    /// that was never sent counts as the last one that was.
    mutating func settle(through watermark: UInt64, at moment: Duration) -> [Duration] {
        let watermark = min(watermark, self.sequence)
        guard watermark > self.settled else { return [] }
        defer { self.settled = watermark }
        return (self.settled + 1...watermark).map { moment - self.started[self.place(of: $0)] }
    }

    private func place(of sequence: UInt64) -> Int {
        Int(truncatingIfNeeded: sequence % UInt64(self.started.count))
    }
}

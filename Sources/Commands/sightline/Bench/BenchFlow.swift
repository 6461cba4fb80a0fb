/// The requests of one stream in flight, at most a window of them. A value; the caller passes the
/// time.
struct BenchFlow: Sendable {
    /// The last request's sequence; 0 before the first.
    private(set) var sequence: UInt64 = 0
    /// The server's watermark.
    private(set) var settled: UInt64 = 0
    /// Whether the server announced the end of the stream.
    var isClosing = false
    /// Whether the stream has ended.
    var isEnded = false
    /// When the requests in flight were started, by sequence modulo the window.
    private var started: [Duration]

    init(window: Int) { self.started = Array(repeating: .zero, count: window) }

    /// The number of requests in flight.
    var underWay: Int { Int(truncatingIfNeeded: self.sequence &- self.settled) }

    /// Whether another request may be sent.
    var hasRoom: Bool { self.underWay < self.started.count }

    /// Adds a request started at `moment`; returns its sequence. Requires `hasRoom`.
    mutating func begin(at moment: Duration) -> UInt64 {
        self.sequence &+= 1
        self.started[self.place(of: self.sequence)] = moment
        return self.sequence
    }

    /// Processes an ack received at `moment`; returns the latencies of the requests that it
    /// settles. A sequence beyond the last one sent counts as that.
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

/// The parameters of a load. `validate()` checks their limits.
package struct BenchPlan: Sendable, Equatable {
    /// The kinds of events to send.
    package enum Mix: String, Sendable, CaseIterable {
        /// Opened notifications on iOS: two hits each.
        case opened
        /// 60 % Android impressions, 25 % opened, 10 % dismissed, 5 % track actions.
        case real
    }

    /// When a run ends.
    package enum End: Sendable, Equatable {
        /// After this many seconds, 1 to 86,400.
        case seconds(Int)
        /// After this many events, 1 to 1,000,000,000,000.
        case events(Int)
    }

    /// Connections, 1 to 1,000.
    package var connections = 4
    /// Streams on each connection, 1 to 1,000.
    package var streams = 1
    /// Events in a request, 1 to 2,000.
    package var batch = 100
    /// Bytes of an event, 240 to 16,384.
    package var eventBytes = 270
    /// The maximum requests in flight per stream, 1 to 4,096.
    package var window = 16
    /// When the run ends.
    package var end = End.seconds(10)
    /// Events per second of an open loop, 1 to 100,000,000; nil for a closed loop.
    package var rate: Int?
    /// The kinds of events to send.
    package var mix = Mix.opened

    /// Creates the default plan.
    package init() {}

    /// Checks the limits of every parameter.
    ///
    /// - Throws: `BenchPlanError`.
    package func validate() throws(BenchPlanError) {
        try Self.check("--connections", self.connections, in: 1...1000)
        try Self.check("--streams", self.streams, in: 1...1000)
        try Self.check("--batch", self.batch, in: 1...2000)
        try Self.check("--event-bytes", self.eventBytes, in: 240...16_384)
        try Self.check("--window", self.window, in: 1...4096)
        if let rate = self.rate { try Self.check("--rate", rate, in: 1...100_000_000) }
        switch self.end {
        case .seconds(let count): try Self.check("--seconds", count, in: 1...86_400)
        case .events(let count): try Self.check("--events", count, in: 1...1_000_000_000_000)
        }
        guard self.memoryBytes <= Self.maxMemoryBytes else {
            throw BenchPlanError(
                reason: "\(self.connections * self.streams) streams with requests of "
                    + "\(self.batch * self.eventBytes) bytes take \(self.memoryBytes >> 20) MiB, "
                    + "the limit is \(Self.maxMemoryBytes >> 20) MiB; lower --connections, "
                    + "--streams, --batch or --event-bytes")
        }
    }

    /// The maximum memory of all streams' encoded requests and windows: 1 GiB.
    package static let maxMemoryBytes = 1 << 30

    /// The number of distinct requests that a stream cycles through: small ones are too few to show
    /// a mix, so they have several.
    var requestCount: Int { self.mix == .real && self.batch < BenchEvents.cycle ? 20 : 1 }

    /// The memory of all streams' encoded requests and windows.
    private var memoryBytes: Int {
        let requests = self.requestCount * self.batch * self.eventBytes
        return self.connections * self.streams * (requests + self.window * 16)
    }

    private static func check(
        _ option: String, _ value: Int, in limits: ClosedRange<Int>
    ) throws(BenchPlanError) {
        guard limits.contains(value) else {
            throw BenchPlanError(
                reason: "\(option) \(value) is outside \(limits.lowerBound) to "
                    + "\(limits.upperBound)")
        }
    }
}

/// A parameter that exceeds its limit.
package struct BenchPlanError: Error, Equatable, CustomStringConvertible {
    /// The option, the value and the limit.
    package let reason: String

    /// The reason.
    package var description: String { self.reason }
}

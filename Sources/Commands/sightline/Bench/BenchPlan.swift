internal import ArgumentParser

/// The options that describe a load.
struct BenchPlan: ParsableArguments {
    /// The kinds of events to send.
    enum Mix: String, CaseIterable, ExpressibleByArgument { case opened, real }

    @Option(help: "Connections, 1 to 1000.")
    var connections = 4

    @Option(help: "Events in a request, 1 to 2000.")
    var batch = 100

    @Option(
        help: "How long to send, 1 to 86400 seconds, as 90, 90s or 15m. (default: 10)",
        transform: AmountOption.seconds)
    var seconds: Int?

    @Option(help: "How many events to send instead, 1 to 1000000000000.")
    var events: Int?

    @Option(help: "Open loop: events per second, 1 to 100000000. Latency counts from when due.")
    var rate: Int?

    @Option(
        help: """
            opened: opened iOS notifications, two hits each. real: of both platforms 50 % \
            impressions, 20 % opened, 10 % dismissed, 15 % in-app messages, 5 % track actions; of \
            all of them 5 % for the second time, as duplicates.
            """)
    var mix = Mix.opened

    func validate() throws {
        for (option, value, most) in [
            ("--connections", self.connections, 1000), ("--batch", self.batch, 2000),
            ("--seconds", self.seconds ?? 1, 86_400), ("--rate", self.rate ?? 1, 100_000_000),
            ("--events", self.events ?? 1, 1_000_000_000_000),
        ] where !(1...most).contains(value) {
            throw ValidationError("\(option) \(value) is outside 1 to \(most).")
        }
        guard self.seconds == nil || self.events == nil else {
            throw ValidationError("--seconds and --events exclude each other; give one.")
        }
    }

    /// The number of requests in the run; nil if only time ends it.
    var requestCount: Int? {
        let events = self.events ?? self.rate.map { $0 * (self.seconds ?? 10) }
        return events.map { ($0 + self.batch - 1) / self.batch }
    }

    /// The events of the request with this number, from 0, and when it is due after the start; in a
    /// closed loop it is due at once. Nil if the run ends before it.
    func turn(_ number: Int, elapsed: Duration) -> (events: Range<Int>, due: Duration?)? {
        if let count = self.requestCount, number >= count { return nil }
        if self.events == nil, elapsed >= .seconds(self.seconds ?? 10) { return nil }
        let first = number * self.batch
        let events = first..<min(first + self.batch, self.events ?? .max)
        // Computed from the start, so that rounding errors do not add up.
        return (events, self.rate.map { .seconds(Double(first) / Double($0)) })
    }
}

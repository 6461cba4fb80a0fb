internal import AdminProtocol
internal import TrackingReport

/// A table of a running server's sinks.
struct SinkTable {
    let lines: [String]

    private static let maxErrorLength = 60

    init(_ statistics: Statistics) {
        var table = TextTable([
            ("sink", .left), ("state", .left), ("hits/s", .right), ("behind", .right),
            ("waiting", .right), ("hits", .right), ("missed", .right), ("retries", .right),
            ("dead letters", .right), ("last error", .left),
        ])
        for sink in statistics.sinks {
            table.add([
                sink.name, Self.state(of: sink), Figure.rate(sink.hitsPerSecond),
                Figure.seconds(sink.lagSeconds), Figure.bytes(sink.lagBytes),
                Figure.grouped(sink.deliveredHits), Figure.grouped(sink.missedHits),
                Figure.grouped(sink.retries), Figure.grouped(sink.deadLetters),
                Self.error(of: sink, at: statistics.time),
            ])
        }
        self.lines = table.lines() + Self.former(statistics.formerSinks)
    }

    private static func former(_ names: [String]) -> [String] {
        if names.isEmpty { return [] }
        return [
            "", "configured no more, with a place in the journal (`sightline sinks forget NAME`):",
            "  " + names.joined(separator: ", "),
        ]
    }

    private static func state(of sink: Statistics.Sink) -> String {
        (sink.isPaused ? "paused" : "running") + (sink.isRequired ? "" : ", optional")
    }

    private static func error(of sink: Statistics.Sink, at time: Double) -> String {
        guard let error = sink.lastError, let errorTime = sink.lastErrorTime else { return "" }
        return "\(error.prefix(Self.maxErrorLength)) (\(Figure.duration(time - errorTime)) ago)"
    }
}

internal import AdminServer
internal import TerminalText

/// The sinks of a running server as a table.
struct SinkTable {
    let lines: [String]

    init(_ statistics: Statistics) {
        var table = TextTable([
            ("sink", .left), ("state", .left), ("delivered", .right), ("behind", .right),
            ("bytes", .right), ("groups", .right), ("retries", .right), ("dead letters", .right),
        ])
        for sink in statistics.sinks {
            table.add([
                sink.name, sink.isPaused ? "paused" : "running", "\(sink.deliveredHits)",
                "\(sink.lagSeconds.rounded()) s", "\(sink.lagBytes)", "\(sink.lagGroups)",
                "\(sink.retries)", "\(sink.deadLetters)",
            ])
        }
        self.lines = table.lines()
    }
}

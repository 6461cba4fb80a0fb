internal import AdminProtocol
internal import DequeModule

/// A bounded history of rates and latencies; each row is the difference of two readings.
struct StatisticsHistory {
    /// The change between two readings.
    private struct Row {
        let time: Double
        let events: [Double]
        let requests: Double
        let receivedBytes: Double
        let acks: DurationQuantiles?
        let commits: DurationQuantiles?
        let journalBytes: Double
        let sinks: [SinkRow]
    }

    private struct SinkRow {
        let name: String
        let hits: Double
        let lagSeconds: Double
        let lagBytes: Double
    }

    private let capacity: Int
    private var rows: Deque<Row> = []
    private(set) var last: (reading: StatisticsReading, time: Double)?

    /// Creates an empty history of at most `capacity` rows.
    init(capacity: Int) { self.capacity = capacity }

    /// Adds a reading; from the second one on, each adds a row.
    ///
    /// - Parameters:
    ///   - time: seconds since 1970.
    ///   - elapsed: seconds since the previous reading, by the monotonic clock.
    mutating func append(_ reading: StatisticsReading, time: Double, elapsed: Double) {
        defer { self.last = (reading, time) }
        guard let earlier = self.last?.reading, elapsed > 0 else { return }
        func rate(_ figure: KeyPath<StatisticsReading, Int>) -> Double {
            let increase = max(0, reading[keyPath: figure] &- earlier[keyPath: figure])
            return (Double(increase) / elapsed * 10).rounded() / 10
        }
        if self.rows.count >= self.capacity { self.rows.removeFirst() }
        self.rows.append(
            Row(
                time: time,
                events: [
                    rate(\.events.accepted), rate(\.events.suppressed), rate(\.events.duplicate),
                    rate(\.events.rejected), rate(\.events.retryLater),
                ],
                requests: rate(\.requests), receivedBytes: rate(\.receivedBytes),
                acks: reading.acks.map { DurationQuantiles($0, since: earlier.acks) },
                commits: reading.commits.map { DurationQuantiles($0, since: earlier.commits) },
                journalBytes: Double(reading.journal.bytes),
                sinks: reading.sinks.map { sink in
                    let before = earlier.sinks.first { $0.name == sink.name }?.deliveredHits ?? 0
                    let hits = Double(max(0, sink.deliveredHits &- before))
                    return SinkRow(
                        name: sink.name, hits: (hits / elapsed * 10).rounded() / 10,
                        lagSeconds: sink.lagSeconds, lagBytes: Double(sink.lagBytes))
                }))
    }

    /// The columns of each sink in the newest row.
    private var sinkColumns: [Statistics.SinkHistory] {
        (self.rows.last?.sinks ?? []).map { last in
            let rows = self.rows.map { row in row.sinks.first { $0.name == last.name } }
            return Statistics.SinkHistory(
                name: last.name, hits: rows.map { $0?.hits ?? 0 },
                lagSeconds: rows.map { $0?.lagSeconds ?? 0 },
                lagBytes: rows.map { $0?.lagBytes ?? 0 })
        }
    }

    /// The rows as columns.
    var columns: Statistics.History {
        var columns = Statistics.History()
        columns.windowSeconds = self.capacity
        columns.time = self.rows.map(\.time)
        columns.accepted = self.rows.map { $0.events[0] }
        columns.suppressed = self.rows.map { $0.events[1] }
        columns.duplicate = self.rows.map { $0.events[2] }
        columns.rejected = self.rows.map { $0.events[3] }
        columns.retryLater = self.rows.map { $0.events[4] }
        columns.requests = self.rows.map(\.requests)
        columns.receivedBytes = self.rows.map(\.receivedBytes)
        columns.ackP50Seconds = self.rows.map { $0.acks?.quantile(0.5) }
        columns.ackP99Seconds = self.rows.map { $0.acks?.quantile(0.99) }
        columns.commitP99Seconds = self.rows.map { $0.commits?.quantile(0.99) }
        columns.journalBytes = self.rows.map(\.journalBytes)
        columns.sinks = self.sinkColumns
        return columns
    }
}

// What the forwarder says of losses, as an operator reads it in the log.
internal import Logging
internal import Synchronization

/// Collects the records of damaged batches.
final class LossLog: @unchecked Sendable {
    /// Events that were told of as lost, by sequence; nil where nothing tells how many.
    private let losses = Mutex<[String: Int?]>([:])

    /// Events that were told of as lost; nil where for some records nothing tells how many.
    var events: Int? {
        self.losses.withLock { losses in
            losses.values.reduce(0) { sum, events in
                sum.flatMap { sum in events.map { sum + $0 } }
            }
        }
    }

    var isEmpty: Bool { self.losses.withLock { $0.isEmpty } }

    /// Told of each loss.
    var onTrace: ((String) -> Void)?

    /// Whether nobody reads what is said: the process has ended.
    var isDeaf: () -> Bool = { false }

    fileprivate func note(_ metadata: Logger.Metadata?) {
        guard !self.isDeaf(), let sequence = metadata?["sequence"], let events = metadata?["events"]
        else { return }
        self.onTrace?("a loss is told: \(metadata ?? [:])")
        self.losses.withLock { $0["\(sequence)"] = .some(Int("\(events)")) }
    }

    var logger: Logger { Logger(label: "simulation") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: LossLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.critical
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            if event.message.description.contains("damaged") { self.log.note(event.metadata) }
        }
    }
}

// The losses that the forwarder logs.
internal import Logging
internal import Synchronization

/// Collects the log records of damaged batches.
final class LossLog: @unchecked Sendable {
    /// The lost events by sequence; nil if their number is unknown.
    private let losses = Mutex<[String: Int?]>([:])

    /// The number of lost events; nil if it is unknown for some records.
    var events: Int? {
        self.losses.withLock { losses in
            losses.values.reduce(0) { sum, events in
                sum.flatMap { sum in events.map { sum + $0 } }
            }
        }
    }

    var isEmpty: Bool { self.losses.withLock { $0.isEmpty } }

    /// Called with each loss.
    var onTrace: ((String) -> Void)?

    /// Whether the process has ended, so that its log records do not count.
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

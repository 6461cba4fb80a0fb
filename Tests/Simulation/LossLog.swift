// The losses that the forwarder logs.
internal import Logging
internal import Synchronization

/// Collects the log records of damaged batches, and of gaps.
final class LossLog: @unchecked Sendable {
    /// The lost events by sequence; nil if their number is unknown.
    private let losses = Mutex<[String: Int?]>([:])
    /// By sink and first sequence: a gap that was told, and not yet noted as such when the process
    /// ended, is told again with what has joined it, or up to a group that is still there this
    /// time. The longest counts, for a backend that was past it does not take that group again.
    private let missed = Mutex<[String: [Int64: MissedGroups]]>([:])

    /// The gaps that a sink was told of.
    func gaps(of sink: String) -> [MissedGroups] {
        let gaps = self.missed.withLock { $0[sink] } ?? [:]
        return gaps.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Forgets what a sink was told, which begins anew.
    func forget(_ sink: String) { self.missed.withLock { $0[sink] = nil } }

    /// How many there were, of all sinks.
    var gapCount: Int { self.missed.withLock { $0.values.reduce(0) { $0 + $1.count } } }

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

    fileprivate func noteGap(_ metadata: Logger.Metadata?) {
        guard !self.isDeaf(), let metadata, let sink = metadata["sink"],
            let first = metadata["first_sequence"].flatMap({ Int64("\($0)") }),
            let last = metadata["sequence"].flatMap({ Int64("\($0)") }), first <= last
        else { return }
        self.onTrace?("a gap is told: \(metadata)")
        let hits = metadata["hits"].flatMap { Int("\($0)") }
        self.missed.withLock {
            let known = $0["\(sink)"]?[first]?.sequences.upperBound ?? 0
            guard last >= known else { return }
            $0["\(sink)", default: [:]][first] = MissedGroups(sequences: first...last, hits: hits)
        }
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
            let message = event.message.description
            if message.contains("damaged") { self.log.note(event.metadata) }
            if message.contains("released these groups") { self.log.noteGap(event.metadata) }
        }
    }
}

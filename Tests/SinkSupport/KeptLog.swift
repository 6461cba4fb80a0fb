// A log that a test reads.
package import Logging
internal import Synchronization

/// Keeps the records of its logger.
package final class KeptLog: Sendable {
    private let events = Mutex<[LogEvent]>([])

    package init() {}

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    /// The metadata of each record whose message has some words.
    package func metadata(of words: String) -> [[String: String]] {
        self.events.withLock { $0 }.filter { $0.message.description.contains(words) }
            .map { ($0.metadata ?? [:]).mapValues { "\($0)" } }
    }

    private struct Handler: LogHandler {
        let log: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }
        func log(event: LogEvent) { self.log.events.withLock { $0.append(event) } }
    }
}

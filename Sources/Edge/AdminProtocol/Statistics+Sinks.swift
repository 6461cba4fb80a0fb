extension Statistics {
    /// One sink.
    package struct Sink: Codable, Sendable, Equatable {
        /// The name as configured.
        package var name: String
        /// Whether the journal keeps hits until the sink has stored them.
        package var isRequired = true
        /// Whether it is paused, by an operator or because its backend accepts nothing for now.
        package var isPaused = false
        /// Groups that the sink has not confirmed.
        package var lagGroups = 0
        /// The age of the oldest of them.
        package var lagSeconds = 0.0
        /// The bytes of their payload.
        package var lagBytes = 0
        /// Hits that the sink has stored.
        package var deliveredHits = 0
        /// Hits stored per second, over the time since the previous reading.
        package var hitsPerSecond = 0.0
        /// Deliveries that failed and are retried.
        package var retries = 0
        /// Hits that the sink rejected permanently.
        package var deadLetters = 0
        /// Hits that were released from the journal before the sink had them, reported to the sink
        /// or not yet.
        package var missedHits = 0
        /// The bytes of the sink's own files.
        package var storedBytes = 0
        /// The reason of the last failed delivery, cut to `maxErrorBytes`; nil if none failed.
        package var lastError: String?
        /// When that delivery failed.
        package var lastErrorTime: Double?

        /// The maximum bytes of an error.
        package static let maxErrorBytes = 500

        /// Creates a sink without figures.
        package init(name: String) { self.name = name }
    }

    /// The history of one sink, in columns as long as those of `History`; 0 in rows from before the
    /// sink existed.
    package struct SinkHistory: Codable, Sendable, Equatable {
        /// The sink's name.
        package var name: String
        /// Hits per second.
        package var hits: [Double] = []
        /// The age of the oldest group that it has not confirmed.
        package var lagSeconds: [Double] = []
        /// The bytes that it has not confirmed.
        package var lagBytes: [Double] = []

        /// The columns of a sink.
        package init(name: String, hits: [Double], lagSeconds: [Double], lagBytes: [Double]) {
            self.name = name
            self.hits = hits
            self.lagSeconds = lagSeconds
            self.lagBytes = lagBytes
        }
    }
}

extension Statistics {
    /// One sink.
    package struct Sink: Codable, Sendable, Equatable {
        /// The name as configured.
        package var name: String
        /// Whether the journal keeps everything until the sink has it.
        package var isRequired = true
        /// Whether it is paused, by an operator or because its backend wants no more.
        package var isPaused = false
        /// Groups that the sink has not confirmed.
        package var lagGroups = 0
        /// The age of the oldest of them.
        package var lagSeconds = 0.0
        /// The bytes of their payload.
        package var lagBytes = 0
        /// Hits that the sink has stored.
        package var deliveredHits = 0
        /// The same per second, over the time since the previous reading.
        package var hitsPerSecond = 0.0
        /// Deliveries that failed and are retried.
        package var retries = 0
        /// Hits that the sink rejected permanently.
        package var deadLetters = 0
        /// Hits that went from the journal before the sink had them: told so far, and still untold.
        package var missedHits = 0
        /// The bytes of the sink's own files.
        package var storedBytes = 0
        /// Why a delivery failed last, cut to `maxErrorBytes`; nil if none has.
        package var lastError: String?
        /// When that was.
        package var lastErrorTime: Double?

        /// The maximum bytes of an error.
        package static let maxErrorBytes = 500

        /// Creates a sink of which nothing is known.
        package init(name: String) { self.name = name }
    }

    /// The columns of one sink, as long as those of the history; a row before the sink was there is
    /// 0.
    package struct SinkHistory: Codable, Sendable, Equatable {
        /// The sink's name.
        package var name: String
        /// Hits per second.
        package var hits: [Double] = []
        /// The age of the oldest group that it has yet to take.
        package var lagSeconds: [Double] = []
        /// The bytes that it has yet to take.
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

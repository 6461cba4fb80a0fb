// The shape of `/stats.json`, which the page and `sightline top` read. docs/admin.md describes it;
// fields are added, and never change their meaning.

/// The server's figures at one moment, and their history. Durations are in seconds, times in
/// seconds since 1970; counts begin at 0 with the process.
package struct Statistics: Codable, Sendable, Equatable {
    /// The program's version.
    package var version = ""
    /// When the process started: another one tells of a restart.
    package var startTime = 0.0
    /// When the figures were read.
    package var time = 0.0
    /// Whether the server takes events.
    package var isReady = false
    /// What it is not ready for; empty where it is.
    package var notReady: [String] = []
    /// Events by verdict.
    package var events = EventCounts()
    /// Requests.
    package var requests = 0
    /// Bytes of requests.
    package var receivedBytes = 0
    /// Streams that are open.
    package var streams = 0
    /// Connections that are open.
    package var connections = 0
    /// Refused calls by reason.
    package var refusals: [Refusals] = []
    /// The process's memory.
    package var memory = Memory()
    /// The journal.
    package var journal = Journal()
    /// The sinks.
    package var sinks: [Sink] = []
    /// The funnels of the busiest deliveries.
    package var deliveries = Deliveries()
    /// What was rejected of late, the most recent first.
    package var rejections: [Rejection] = []
    /// The last minutes.
    package var history = History()

    /// Counts or rates of events by verdict.
    package struct EventCounts: Codable, Sendable, Equatable {
        package var accepted = 0
        package var suppressed = 0
        package var duplicate = 0
        package var rejected = 0
        package var retryLater = 0

        /// Events in all.
        package var total: Int {
            self.accepted &+ self.suppressed &+ self.duplicate &+ self.rejected &+ self.retryLater
        }
    }

    /// Calls that were refused for one reason.
    package struct Refusals: Codable, Sendable, Equatable {
        package var reason: String
        package var count: Int
    }

    /// Memory in bytes.
    package struct Memory: Codable, Sendable, Equatable {
        /// Of requests under way.
        package var inFlightBytes = 0
        /// What these may come to.
        package var inFlightLimitBytes = 0
        /// Of the whole process.
        package var residentBytes = 0
    }

    /// What waits in the journal.
    package struct Journal: Codable, Sendable, Equatable {
        package var bytes = 0
        package var limitBytes = 0
        /// Age of its oldest row.
        package var oldestAgeSeconds = 0.0
    }

    /// One backend.
    package struct Sink: Codable, Sendable, Equatable {
        package var name: String
        /// Groups of the journal that it does not have yet.
        package var lagGroups = 0
        /// Age of the oldest of them.
        package var lagSeconds = 0.0
        package var deliveredHits = 0
        package var retries = 0
        package var deadLetters = 0
    }

    /// The funnels.
    package struct Deliveries: Codable, Sendable, Equatable {
        /// Deliveries that are counted, and how many may be.
        package var count = 0
        package var capacity = 0
        package var busiest: [Funnel] = []
    }

    /// One delivery's hits since the process started, those of iOS apart.
    package struct Funnel: Codable, Sendable, Equatable {
        package var tenant: String
        package var deliveryId: String
        package var isInApp: Bool
        package var impressions: Int
        package var impressionsIos: Int
        package var clicks: Int
        package var clicksIos: Int
        package var opens: Int
        package var opensIos: Int
        /// Hits that may have passed before it was counted, at most.
        package var missed: Int
    }

    /// Events that break one rule at one field.
    package struct Rejection: Codable, Sendable, Equatable {
        package var field: String
        /// The proto enum's name, as in `REQUIRED`.
        package var rule: String
        package var count: Int
        package var firstTime: Double
        package var lastTime: Double
    }

    /// Columns of one length, the oldest row first: a row tells of the time since the row before.
    package struct History: Codable, Sendable, Equatable {
        /// Seconds that the columns look back, once the server has run for so long.
        package var windowSeconds = 0
        /// When each row was read.
        package var time: [Double] = []
        /// Events per second.
        package var accepted: [Double] = []
        package var suppressed: [Double] = []
        package var duplicate: [Double] = []
        package var rejected: [Double] = []
        package var retryLater: [Double] = []
        /// Requests per second.
        package var requests: [Double] = []
        /// Bytes of requests per second.
        package var receivedBytes: [Double] = []
        /// From a request's arrival to its being on disk; null where there was none.
        package var ackP50Seconds: [Double?] = []
        package var ackP99Seconds: [Double?] = []
        /// Of a commit.
        package var commitP99Seconds: [Double?] = []
        /// Bytes in the journal.
        package var journalBytes: [Double] = []
    }

    /// Nothing yet.
    package init() {}
}

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
        /// Gave a hit.
        package var accepted = 0
        /// Rightly not tracked.
        package var suppressed = 0
        /// Known already.
        package var duplicate = 0
        /// Break a rule.
        package var rejected = 0
        /// To be sent again.
        package var retryLater = 0

        /// Events in all.
        package var total: Int {
            self.accepted &+ self.suppressed &+ self.duplicate &+ self.rejected &+ self.retryLater
        }
    }

    /// Calls that were refused for one reason.
    package struct Refusals: Codable, Sendable, Equatable {
        /// As in docs/errors.md, lower case.
        package var reason: String
        /// Since the process started.
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
        /// Of what it keeps.
        package var bytes = 0
        /// At which it refuses.
        package var limitBytes = 0
        /// Age of its oldest row.
        package var oldestAgeSeconds = 0.0
    }

    /// One backend.
    package struct Sink: Codable, Sendable, Equatable {
        /// As configured.
        package var name: String
        /// Groups of the journal that it does not have yet.
        package var lagGroups = 0
        /// Age of the oldest of them.
        package var lagSeconds = 0.0
        /// Hits that it has taken.
        package var deliveredHits = 0
        /// Deliveries for which it was unavailable.
        package var retries = 0
        /// Hits that it refused for good.
        package var deadLetters = 0
    }

    /// The funnels.
    package struct Deliveries: Codable, Sendable, Equatable {
        /// Deliveries that are counted.
        package var count = 0
        /// How many may be counted.
        package var capacity = 0
        /// The busiest first.
        package var busiest: [Funnel] = []
    }

    /// One delivery's hits since the process started, those of iOS apart.
    package struct Funnel: Codable, Sendable, Equatable {
        /// Who sent the hits.
        package var tenant: String
        /// deliveryId, or an in-app message's id.
        package var deliveryId: String
        /// Whether it is an in-app message.
        package var isInApp: Bool
        /// From all platforms but iOS.
        package var impressions: Int
        /// From iOS.
        package var impressionsIos: Int
        /// From all platforms but iOS.
        package var clicks: Int
        /// From iOS.
        package var clicksIos: Int
        /// From all platforms but iOS.
        package var opens: Int
        /// From iOS.
        package var opensIos: Int
        /// Hits that may have passed before it was counted, at most.
        package var missed: Int
    }

    /// Events that break one rule at one field.
    package struct Rejection: Codable, Sendable, Equatable {
        /// Path of the field.
        package var field: String
        /// The proto enum's name, as in `REQUIRED`.
        package var rule: String
        /// Events, or whole requests.
        package var count: Int
        /// When the first came.
        package var firstTime: Double
        /// When the last came.
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
        /// Events per second.
        package var suppressed: [Double] = []
        /// Events per second.
        package var duplicate: [Double] = []
        /// Events per second.
        package var rejected: [Double] = []
        /// Events per second.
        package var retryLater: [Double] = []
        /// Requests per second.
        package var requests: [Double] = []
        /// Bytes of requests per second.
        package var receivedBytes: [Double] = []
        /// From a request's arrival to its being settled, the median; null where there was none.
        package var ackP50Seconds: [Double?] = []
        /// The same, which 99 of 100 do not exceed.
        package var ackP99Seconds: [Double?] = []
        /// Of a commit.
        package var commitP99Seconds: [Double?] = []
        /// Bytes in the journal.
        package var journalBytes: [Double] = []
    }

    /// Nothing yet.
    package init() {}
}

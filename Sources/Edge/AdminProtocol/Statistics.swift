/// The server's current figures and their history: the document `/stats.json`, which the page and
/// `sightline top` read (docs/admin.md). Fields may be added, but never change their meaning.
/// Durations are in seconds, times in seconds since 1970; counts start at 0 with the process.
package struct Statistics: Codable, Sendable, Equatable {
    /// The program's version.
    package var version = ""
    /// When the process started; changes with a restart.
    package var startTime = 0.0
    /// When the figures were read.
    package var time = 0.0
    /// Whether the server accepts events.
    package var isReady = false
    /// The reasons why it is not ready; empty if it is.
    package var notReady: [String] = []
    /// Counts of events by verdict.
    package var events = EventCounts()
    /// The number of requests.
    package var requests = 0
    /// The bytes of all requests.
    package var receivedBytes = 0
    /// The number of open streams.
    package var streams = 0
    /// The number of open connections.
    package var connections = 0
    /// Refused calls by reason.
    package var refusals: [ReasonCount] = []
    /// The process's memory.
    package var memory = Memory()
    /// The journal's size and age.
    package var journal = Journal()
    /// The sinks' backlogs and counts.
    package var sinks: [Sink] = []
    /// The names of sinks that are no longer configured and that were not forgotten.
    package var formerSinks: [String] = []
    /// The funnels of the busiest deliveries.
    package var deliveries = Deliveries()
    /// Recent rejections, most recent first.
    package var rejections: [Rejection] = []
    /// Findings on deliveries, those with the most events first, at most 10.
    package var quality: [Trouble] = []
    /// What the ledger has of all events: since before the process started.
    package var ledger = LedgerFigures()
    /// Rates and latencies of recent minutes.
    package var history = History()

    /// Counts or rates of events by verdict.
    package struct EventCounts: Codable, Sendable, Equatable {
        /// Events that gave at least one hit.
        package var accepted = 0
        /// Events that are correctly not tracked.
        package var suppressed = 0
        /// Suppressed events by reason.
        package var suppressedBy = Suppressed()
        /// Events whose hits the window already held.
        package var duplicate = 0
        /// Events that break a rule.
        package var rejected = 0
        /// Events that the client has to send again.
        package var retryLater = 0

        /// None yet.
        package init() {}

        /// The sum of all verdicts.
        package var total: Int {
            self.accepted &+ self.suppressed &+ self.duplicate &+ self.rejected &+ self.retryLater
        }
    }

    /// Suppressed events by reason.
    package struct Suppressed: Codable, Sendable, Equatable {
        /// The tracking flag is off.
        package var flagOff = 0
        /// The tracking flag is neither on nor off.
        package var flagUnknown = 0
        /// The recipient has not consented.
        package var consent = 0
        /// A test message on a test device.
        package var testMessage = 0
        /// The app has suppressed the display.
        package var display = 0

        /// None yet.
        package init() {}
    }

    /// How often something happened for one reason.
    package struct ReasonCount: Codable, Sendable, Equatable {
        /// The reason.
        package var reason: String
        /// How often.
        package var count: Int

        /// A count for a reason.
        package init(reason: String, count: Int) {
            self.reason = reason
            self.count = count
        }
    }

    /// Memory in bytes.
    package struct Memory: Codable, Sendable, Equatable {
        /// The bytes of requests in progress.
        package var inFlightBytes = 0
        /// The maximum of these bytes.
        package var inFlightLimitBytes = 0
        /// The resident memory of the process.
        package var residentBytes = 0

        /// Nothing yet.
        package init() {}
    }

    /// The journal's contents.
    package struct Journal: Codable, Sendable, Equatable {
        /// The stored bytes.
        package var bytes = 0
        /// The limit of stored bytes, at which requests are refused.
        package var limitBytes = 0
        /// The age of the oldest row.
        package var oldestAgeSeconds = 0.0

        /// An empty journal.
        package init() {}
    }

    /// The funnels of deliveries, from the ledger.
    package struct Deliveries: Codable, Sendable, Equatable {
        /// The number of deliveries and in-app messages with a hit.
        package var count = 0
        /// The deliveries with the most hits in the last 24 hours, the most first.
        package var busiest: [Funnel] = []
        /// Deliveries without a hit whose totals were put, the last put first, as far as there is
        /// room beside the busiest; nil from a server that does not tell of them.
        package var put: [Totals]?

        /// The deliveries of a ledger; without arguments those of an empty one.
        package init(count: Int = 0, busiest: [Funnel] = [], put: [Totals]? = nil) {
            self.count = count
            self.busiest = busiest
            self.put = put
        }
    }

    /// Rejections with the same field and rule.
    package struct Rejection: Codable, Sendable, Equatable {
        /// The field's path.
        package var field: String
        /// The rule as the proto enum names it, e.g. `REQUIRED`.
        package var rule: String
        /// The number of events, or of requests refused as a whole.
        package var count: Int
        /// When the first one arrived.
        package var firstTime: Double
        /// When the last one arrived.
        package var lastTime: Double

        /// Rejections with times in seconds since 1970.
        package init(
            field: String, rule: String, count: Int, firstTime: Double, lastTime: Double
        ) {
            self.field = field
            self.rule = rule
            self.count = count
            self.firstTime = firstTime
            self.lastTime = lastTime
        }
    }

    /// A finding on a delivery; `sightline why` shows its sentence.
    package struct Trouble: Codable, Sendable, Equatable {
        /// The tenant.
        package var tenant: String
        /// The delivery's id.
        package var deliveryId: String
        /// The finding's code, e.g. `FLAG_UNKNOWN` (docs/why.md).
        package var code: String
        /// What is wrong in fixed words, which quote nothing; nil from a server without them.
        package var summary: String?
        /// The number of events that it concerns.
        package var events: Int

        /// What is wrong with a delivery.
        package init(
            tenant: String, deliveryId: String, code: String, summary: String? = nil, events: Int
        ) {
            self.tenant = tenant
            self.deliveryId = deliveryId
            self.code = code
            self.summary = summary
            self.events = events
        }
    }

    /// The events of the days that the ledger keeps; a restart does not change them.
    package struct LedgerFigures: Codable, Sendable, Equatable {
        /// When it was read for this and for `deliveries` and `quality`; nil: not yet.
        package var time: Double?
        /// Its events by verdict; none are to be sent again.
        package var events = EventCounts()
        /// The most recent of its rejections; their times are hours.
        package var rejections: [Rejection] = []

        /// Not read yet.
        package init() {}
    }

    /// Columns of equal length, oldest row first. A row covers the time since the previous one.
    package struct History: Codable, Sendable, Equatable {
        /// The seconds that the columns cover when they are full.
        package var windowSeconds = 0
        /// When each row was read.
        package var time: [Double] = []
        /// Accepted events per second.
        package var accepted: [Double] = []
        /// Suppressed events per second.
        package var suppressed: [Double] = []
        /// Duplicate events per second.
        package var duplicate: [Double] = []
        /// Rejected events per second.
        package var rejected: [Double] = []
        /// Events to be sent again, per second.
        package var retryLater: [Double] = []
        /// Requests per second.
        package var requests: [Double] = []
        /// Bytes of requests per second.
        package var receivedBytes: [Double] = []
        /// The median time from a request's arrival to its settlement; null if there was none.
        package var ackP50Seconds: [Double?] = []
        /// The 99th percentile of the same time; null if there was none.
        package var ackP99Seconds: [Double?] = []
        /// The 99th percentile of a commit's duration; null if there was none.
        package var commitP99Seconds: [Double?] = []
        /// The bytes stored in the journal.
        package var journalBytes: [Double] = []
        /// The sinks, in the order of their names.
        package var sinks: [SinkHistory] = []

        /// No rows.
        package init() {}
    }

    /// Creates empty statistics.
    package init() {}
}

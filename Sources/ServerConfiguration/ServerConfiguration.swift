// The configuration of a server, read once and checked whole before anything starts.
internal import Foundation
package import Logging
package import Telemetry
package import TrackingCore
package import TrackingJournal
package import TrackingSinks
package import HTTP2Edge
package import Credentials
package import AdminServer

/// All that a server needs to know. One immutable value.
package struct ServerConfiguration: Sendable {
    /// Host of the gRPC server.
    package var host = "127.0.0.1"
    /// Its port; 0 takes a free one.
    package var port = 50051
    /// Directory of the journal and the sinks' files.
    package var dataDirectory = "./sightline-data"
    /// Where hits go.
    package var sink = SinkKind.sqlite
    /// The least severe log record that is written.
    package var logLevel = Logger.Level.info
    /// How log records look.
    package var logFormat = LogFormat.auto
    /// The time between log records of what was counted; zero for none.
    package var logSummaryInterval = Duration.seconds(10)
    /// What the operator decided of the rules.
    package var policy = Policy()
    /// Limits of requests and events.
    package var limits = Limits()
    /// Bytes of requests that may be under way in all streams.
    package var bytesInFlight = 256 << 20
    /// The share of them from which on new calls are refused.
    package var bytesInFlightSoftPercent = 80
    /// What tenants may send.
    package var quotas = QuotaConfiguration()
    /// How a stream behaves.
    package var stream = StreamConfiguration()
    /// How the journal behaves.
    package var journal = Journal.Configuration()
    /// Servers, stream and limits of the nats sink.
    package var nats = NATSConfiguration()
    /// Bytes after which the jsonl sink starts a new file.
    package var jsonLinesFileBytes = 128 << 20
    /// Refused hits that are kept.
    package var maxDeadLetters = 100_000
    /// How long a stopping server waits for its clients.
    package var drainTimeout = Duration.seconds(15)
    /// How many connections there may be, and what each may do.
    package var connections = ConnectionConfiguration()
    /// What stands in front of the services.
    package var edge = EdgeConfiguration()
    /// Watches of health that may be open at once.
    package var maxHealthWatchers = 100
    /// Whether clients may ask what the server's services look like.
    package var isReflectionEnabled = true
    /// Where a person looks at the server.
    package var admin = AdminConfiguration()

    /// How spans are recorded and exported.
    package var traces = TracesConfiguration()

    /// How the gRPC port is secured.
    package var tls = ServerTLSConfiguration()
    /// Who may send.
    package var auth = AuthConfiguration()
    /// Whether it may be open to the network without TLS or credentials.
    package var allowInsecure = false

    /// Every value at its default.
    package init() {}

    /// Reads and checks every key.
    ///
    /// - Throws: `ConfigurationError` with every problem that was found.
    init(_ source: ConfigurationValues) throws(ConfigurationError) {
        var values = source
        let listen = values.text("listen")
        (self.host, self.port) = values.address("listen", listen)
        self.dataDirectory = values.text("data_dir")
        self.sink = SinkKind(rawValue: values.text("sink")) ?? .sqlite
        self.logLevel = Logger.Level(rawValue: values.text("log.level")) ?? .info
        self.logFormat = LogFormat(rawValue: values.text("log.format")) ?? .auto
        self.logSummaryInterval = .seconds(values.number("log.summary_seconds"))
        self.policy.trackUnspecifiedConsent = values.text("rules.default_consent") == "opted_in"
        self.policy.recordTestMessages = values.flag("rules.record_test_messages")
        self.limits.requestBytes = values.number("limits.request_bytes")
        self.limits.requestEvents = values.number("limits.request_events")
        self.limits.eventBytes = values.number("limits.event_bytes")
        self.edge.streamsPerConnection = values.number("limits.streams_per_connection")
        self.edge.metadataBytes = values.number("limits.metadata_bytes")
        self.edge.smallMessageBytes = values.number("limits.small_message_bytes")
        self.edge.messageTimeout = .seconds(values.number("limits.message_seconds"))
        self.bytesInFlight = values.number("limits.bytes_in_flight")
        self.bytesInFlightSoftPercent = values.number("limits.bytes_in_flight_soft_percent")
        self.edge.bytesWaiting = values.number("limits.bytes_waiting")
        self.quotas.standard.eventsPerSecond = values.number("quotas.events_per_second")
        self.quotas.standard.bytesPerSecond = values.number("quotas.bytes_per_second")
        self.quotas.standard.burstSeconds = values.number("quotas.burst_seconds")
        self.quotas.file = values.text("quotas.file")
        self.quotas.maxTenants = values.number("quotas.max_tenants")
        self.quotas.maxStreamWait = .seconds(values.number("quotas.stream_wait_seconds"))
        self.edge.answerTimeout = .seconds(values.number("stream.ack_seconds"))
        self.stream.maxRequests = values.number("stream.max_requests")
        self.stream.maxBytes = values.number("stream.max_bytes")
        self.journal.mode = Journal.Mode(rawValue: values.text("journal.mode")) ?? .disk
        self.journal.maxBytes = values.number("journal.max_bytes")
        self.journal.maxGroupBytes = values.number("journal.group_bytes")
        self.journal.maxCachedBytes = values.number("journal.cache_bytes")
        self.journal.segmentBytes = values.number("journal.segment_bytes")
        self.journal.checkpointMilliseconds = values.number("journal.checkpoint_milliseconds")
        self.journal.retainSeconds = values.number("journal.retain_seconds")
        self.journal.windowCapacity = values.number("journal.recent_hits")
        self.jsonLinesFileBytes = values.number("jsonl.file_bytes")
        self.maxDeadLetters = values.number("dead_letters.max_rows")
        self.drainTimeout = .seconds(values.number("drain.seconds"))
        // Streams are told of the end in time for it to come before the connections are cut.
        self.stream.closingGrace = min(self.stream.closingGrace, self.drainTimeout / 2)
        self.nats = NATSConfiguration(&values)
        if self.sink == .nats {
            self.journal.retainSeconds = max(
                self.journal.retainSeconds, Int(self.nats.retention.components.seconds))
        }
        self.connections = ConnectionConfiguration(&values)
        self.edge.isCompressionEnabled = values.flag("compression.enabled")
        self.edge.maxCompressedStreams = values.number("compression.max_streams")
        self.maxHealthWatchers = values.number("health.max_watchers")
        self.isReflectionEnabled = values.flag("reflection.enabled")
        self.traces = TracesConfiguration(&values)
        self.admin = AdminConfiguration(&values)
        self.tls = ServerTLSConfiguration(values)
        self.auth = AuthConfiguration(values)
        self.allowInsecure = values.flag("allow_insecure")
        if let exposure = self.exposure { values.refuse("listen", exposure) }
        guard values.problems.isEmpty else { throw ConfigurationError(values.problems) }
    }
}

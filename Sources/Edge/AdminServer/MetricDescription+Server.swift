// Every metric of the server, of those who count it and of those who show it. docs/metrics.md has a
// row for each.
package import Telemetry

extension MetricDescription {
    /// `sightline_build_info`.
    package static let buildInfo = MetricDescription.gauge(
        "sightline_build_info", "1, with what the running program was built from",
        labels: "version", "commit", "swift", "traits")

    /// `sightline_ready`.
    package static let ready = MetricDescription.gauge(
        "sightline_ready", "1 while the server takes events, as /readyz says, else 0")
    /// `sightline_reload_succeeded`.
    package static let reloadSucceeded = MetricDescription.gauge(
        "sightline_reload_succeeded", "1 if the newest configuration is in force, 0 if it was wrong"
    )
    /// `sightline_reload_timestamp_seconds`.
    package static let reloadTime = MetricDescription.gauge(
        "sightline_reload_timestamp_seconds",
        "When a configuration was last put in force, since 1970")

    // MARK: Input

    /// `sightline_requests_total`.
    package static let requests = MetricDescription.counter(
        "sightline_requests_total",
        "Requests that were admitted, by what became of them as a whole",
        labels: "method", "outcome")
    /// `sightline_events_total`.
    package static let events = MetricDescription.counter(
        "sightline_events_total",
        "Events by verdict; the reason is the first violation of a rejected one",
        labels: "verdict", "reason")
    /// `sightline_hits_total`.
    package static let hits = MetricDescription.counter(
        "sightline_hits_total", "Hits that accepted events gave", labels: "kind")
    /// `sightline_request_events`.
    package static let requestEvents = MetricDescription.histogram(
        "sightline_request_events", "Events of a request that was settled",
        bounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000])
    /// `sightline_received_bytes_total`.
    package static let receivedBytes = MetricDescription.counter(
        "sightline_received_bytes_total", "Bytes of the requests that were admitted")
    /// `sightline_refusals_total`.
    package static let refusals = MetricDescription.counter(
        "sightline_refusals_total", "RPCs that ended with an error, by the reason that it carries",
        labels: "reason")
    /// `sightline_postbacks_total`.
    package static let postbacks = MetricDescription.counter(
        "sightline_postbacks_total", "Requests to /r/ of the hosts in postback.hosts, by outcome",
        labels: "outcome")
    /// `sightline_postback_upstream_total`.
    package static let postbackUpstream = MetricDescription.counter(
        "sightline_postback_upstream_total",
        "Requests for postback.upstream, by what became of them", labels: "outcome")
    /// `sightline_streams`.
    package static let streams = MetricDescription.gauge(
        "sightline_streams", "StreamEvents calls that are open")
    /// `sightline_connections`.
    package static let connections = MetricDescription.gauge(
        "sightline_connections", "Connections that are open")
    /// `sightline_connections_ended_total`.
    package static let connectionsEnded = MetricDescription.counter(
        "sightline_connections_ended_total", "Connections that the server ended, or did not take",
        labels: "reason")
    /// `sightline_http_requests_total`.
    package static let doorRequests = MetricDescription.counter(
        "sightline_http_requests_total",
        "Requests of the HTTP port by the door that took them and the class of their status, gone "
            + "if the client went away before",
        labels: "door", "status")
    /// `sightline_http_received_bytes_total`.
    package static let doorReceivedBytes = MetricDescription.counter(
        "sightline_http_received_bytes_total", "Bytes of the bodies of these requests, as sent",
        labels: "door")
    /// `sightline_http_sent_bytes_total`.
    package static let doorSentBytes = MetricDescription.counter(
        "sightline_http_sent_bytes_total", "Bytes of the bodies of their answers", labels: "door")
    /// `sightline_http_request_duration_seconds`.
    package static let doorDuration = MetricDescription.histogram(
        "sightline_http_request_duration_seconds",
        "Time from the header fields of a request until its answer was written", labels: "door",
        bounds: Self.diskBounds)
    /// `sightline_http_connections`.
    package static let doorConnections = MetricDescription.gauge(
        "sightline_http_connections", "Connections of the HTTP port that are open")
    /// `sightline_memory_in_flight_bytes`.
    package static let memoryInFlight = MetricDescription.gauge(
        "sightline_memory_in_flight_bytes", "Bytes of requests between arrival and answer")
    /// `sightline_memory_in_flight_limit_bytes`.
    package static let memoryInFlightLimit = MetricDescription.gauge(
        "sightline_memory_in_flight_limit_bytes", "Bytes in flight at which reading stops")

    // MARK: Durations

    /// `sightline_admission_duration_seconds`.
    package static let admissionDuration = MetricDescription.histogram(
        "sightline_admission_duration_seconds",
        "Time that judging took, for the requests that were read together",
        bounds: [
            1e-6, 2e-6, 5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3,
        ])
    /// `sightline_commit_duration_seconds`.
    package static let commitDuration = MetricDescription.histogram(
        "sightline_commit_duration_seconds", "Time that making a group durable took",
        bounds: Self.diskBounds)
    /// `sightline_ack_duration_seconds`.
    package static let ackDuration = MetricDescription.histogram(
        "sightline_ack_duration_seconds", "Time from a request's arrival until it was settled",
        bounds: Self.diskBounds)
    /// `sightline_call_duration_seconds`.
    package static let callDuration = MetricDescription.histogram(
        "sightline_call_duration_seconds", "Time that a unary call took, also one that failed",
        labels: "method", bounds: Self.diskBounds)
    /// `sightline_delivery_duration_seconds`.
    package static let deliveryDuration = MetricDescription.histogram(
        "sightline_delivery_duration_seconds", "Time that a sink took for a batch that it has",
        labels: "sink", bounds: Self.diskBounds + [10, 30])

    /// From a fast SSD's fsync to a failing disk's.
    private static let diskBounds = [
        100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5,
    ]

    // MARK: Journal and sinks

    /// `sightline_journal_bytes`.
    package static let journalBytes = MetricDescription.gauge(
        "sightline_journal_bytes", "Bytes of payload that the journal keeps")
    /// `sightline_journal_limit_bytes`.
    package static let journalLimit = MetricDescription.gauge(
        "sightline_journal_limit_bytes", "Bytes of payload at which the journal refuses")
    /// `sightline_journal_oldest_age_seconds`.
    package static let journalOldestAge = MetricDescription.gauge(
        "sightline_journal_oldest_age_seconds", "Age of the oldest group that the journal keeps")
    /// `sightline_journal_groups_total`.
    package static let journalGroups = MetricDescription.counter(
        "sightline_journal_groups_total", "Groups that were made durable")
    /// `sightline_ledger_rows`.
    package static let ledgerRows = MetricDescription.gauge(
        "sightline_ledger_rows", "Rows of the ledger")
    /// `sightline_ledger_limit_rows`.
    package static let ledgerLimit = MetricDescription.gauge(
        "sightline_ledger_limit_rows", "Rows that the ledger may have")
    /// `sightline_window_keys`.
    package static let windowKeys = MetricDescription.gauge(
        "sightline_window_keys", "Keys of recent hits in the deduplication window")
    /// `sightline_window_limit_keys`.
    package static let windowLimit = MetricDescription.gauge(
        "sightline_window_limit_keys", "Keys beyond which the window forgets the oldest")
    /// `sightline_sink_lag_groups`.
    package static let sinkLagGroups = MetricDescription.gauge(
        "sightline_sink_lag_groups", "Groups that the sink has yet to take", labels: "sink")
    /// `sightline_sink_lag_seconds`.
    package static let sinkLag = MetricDescription.gauge(
        "sightline_sink_lag_seconds", "Age of the oldest group that the sink has yet to take",
        labels: "sink")
    /// `sightline_sink_lag_bytes`.
    package static let sinkLagBytes = MetricDescription.gauge(
        "sightline_sink_lag_bytes", "Bytes of payload that the sink has yet to take",
        labels: "sink")
    /// `sightline_sink_paused`.
    package static let sinkPaused = MetricDescription.gauge(
        "sightline_sink_paused",
        "1 while the sink is paused, by an operator or as its backend wants no more, else 0",
        labels: "sink")
    /// `sightline_sink_stored_bytes`.
    package static let sinkBytes = MetricDescription.gauge(
        "sightline_sink_stored_bytes", "Bytes of the sink's own files, 0 if it has none",
        labels: "sink")
    /// `sightline_disk_free_bytes`.
    package static let diskFree = MetricDescription.gauge(
        "sightline_disk_free_bytes", "Bytes that are free on the disk of the data directory")
    /// `sightline_sink_delivered_hits_total`.
    package static let deliveredHits = MetricDescription.counter(
        "sightline_sink_delivered_hits_total", "Hits that the sink has taken", labels: "sink")
    /// `sightline_delivery_hits`.
    package static let deliveryHits = MetricDescription.histogram(
        "sightline_delivery_hits", "Hits of a batch that the sink has taken", labels: "sink",
        bounds: [1, 10, 100, 1000, 10_000, 100_000])
    /// `sightline_sink_retries_total`.
    package static let sinkRetries = MetricDescription.counter(
        "sightline_sink_retries_total", "Deliveries for which the sink was unavailable",
        labels: "sink")
    /// `sightline_dead_letters_total`.
    package static let deadLetters = MetricDescription.counter(
        "sightline_dead_letters_total", "Hits that the sink refused for good and that were kept",
        labels: "sink")

    /// `sightline_sink_missed_hits_total`.
    package static let missedHits = MetricDescription.counter(
        "sightline_sink_missed_hits_total",
        "Hits that went from the journal before a sink that is not required had them",
        labels: "sink")

    /// `sightline_sink_queued_hits`.
    package static let sinkQueuedHits = MetricDescription.gauge(
        "sightline_sink_queued_hits", "Hits in the queue of the sink's client library",
        labels: "sink")
    /// `sightline_sink_connected_brokers`.
    package static let connectedBrokers = MetricDescription.gauge(
        "sightline_sink_connected_brokers", "Brokers to which the sink is connected",
        labels: "sink")
    /// `sightline_sink_broker_round_trip_seconds`.
    package static let brokerRoundTrip = MetricDescription.gauge(
        "sightline_sink_broker_round_trip_seconds",
        "Mean time of an answer of the sink's slowest broker", labels: "sink")
    /// `sightline_sink_broker_retries_total`.
    package static let brokerRetries = MetricDescription.counter(
        "sightline_sink_broker_retries_total", "Requests to brokers that were sent again",
        labels: "sink")
    /// `sightline_sink_broker_timeouts_total`.
    package static let brokerTimeouts = MetricDescription.counter(
        "sightline_sink_broker_timeouts_total", "Requests that a broker did not answer in time",
        labels: "sink")

    /// `sightline_quarantine_bytes`.
    package static let quarantineBytes = MetricDescription.gauge(
        "sightline_quarantine_bytes", "Bytes of quarantine.db that are in use")
    /// `sightline_quarantine_events_total`.
    package static let quarantineEvents = MetricDescription.counter(
        "sightline_quarantine_events_total",
        "Refused events that were kept, dropped as too many waited, or evicted for want of room",
        labels: "outcome")

    /// `sightline_deliveries_rows`.
    package static let deliveriesRows = MetricDescription.gauge(
        "sightline_deliveries_rows", "Deliveries whose totals are in deliveries.db")
    /// `sightline_deliveries_limit_rows`.
    package static let deliveriesLimit = MetricDescription.gauge(
        "sightline_deliveries_limit_rows", "Deliveries whose totals deliveries.db may have")

    // MARK: The server itself

    /// `sightline_certificate_expiry_timestamp_seconds`.
    package static let certificateExpiry = MetricDescription.gauge(
        "sightline_certificate_expiry_timestamp_seconds",
        "When the server's certificate expires, since 1970; absent without TLS")
    /// `sightline_spans_total`.
    package static let spans = MetricDescription.counter(
        "sightline_spans_total", "Recorded spans by what became of them", labels: "outcome")
    /// `sightline_metrics_dropped_series_total`.
    package static let droppedSeries = MetricDescription.counter(
        "sightline_metrics_dropped_series_total",
        "Series that are missing here because they were not declared or were too many")

    /// All metrics, in the order of the exposition.
    package static let server: [MetricDescription] =
        [
            .buildInfo, .ready, .reloadSucceeded, .reloadTime, .requests, .events, .hits,
            .requestEvents, .receivedBytes, .refusals, .postbacks, .postbackUpstream, .streams,
            .connections, .connectionsEnded, .doorRequests, .doorReceivedBytes, .doorSentBytes,
            .doorDuration, .doorConnections, .memoryInFlight, .memoryInFlightLimit,
            .admissionDuration, .commitDuration, .ackDuration, .callDuration, .deliveryDuration,
            .journalBytes, .journalLimit, .journalOldestAge, .journalGroups, .ledgerRows,
            .ledgerLimit, .windowKeys, .windowLimit, .sinkLagGroups, .sinkLag, .sinkLagBytes,
            .sinkPaused, .sinkBytes, .diskFree, .deliveredHits, .deliveryHits, .sinkRetries,
            .deadLetters, .missedHits, .sinkQueuedHits, .connectedBrokers, .brokerRoundTrip,
            .brokerRetries, .brokerTimeouts, .quarantineBytes, .quarantineEvents,
            .deliveriesRows, .deliveriesLimit, .certificateExpiry, .spans, .droppedSeries,
        ] + ProcessMetrics.descriptions
}

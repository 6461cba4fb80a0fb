// The register of every limit, queue and table of the server: whose each is, and if all tenants
// share it, what their shares are, or why it needs none. `BoundRegisterTests` finds those that are
// missing.

/// Whose a bound is.
enum BoundOwner: Equatable {
    /// One thing's, such as a request's or a stream's: no tenant can use up another one's.
    case one(String)
    /// All tenants share it, and each has a share; the title of a test that proves it.
    case shares(test: String)
    /// All tenants share it without shares: why that harms none of them.
    case common(because: String)
}

/// Bounds with one owner.
struct BoundRow {
    let owner: BoundOwner
    let names: [String]

    init(_ owner: BoundOwner, _ names: String...) {
        self.owner = owner
        self.names = names
    }
}

enum BoundRegister {
    /// What all tenants' hits have in common on their way to a backend.
    private static let inOrder = BoundOwner.common(
        because:
            "a sink delivers the hits of all tenants in the journal's order, and each waits for "
            + "those before it; a tenant's part of them is bounded by its quota")
    private static let tenantShares = BoundOwner.shares(
        test:
            "whatever tenants take and give, the sum is bounded, and who has less than a share gets "
            + "one")
    private static let sinkFiles = BoundOwner.common(
        because:
            "the oldest hits go, whosever they are; a tenant's part of new ones is bounded by its "
            + "quota")

    /// The keys of amounts, as in docs/configuration.md. Those of times are no bounds.
    static let keys: [BoundRow] = [
        BoundRow(
            .one("a request"), "limits.request_bytes", "limits.request_events",
            "limits.event_bytes", "limits.raw_payload_bytes", "limits.raw_payload_levels",
            "limits.metadata_bytes", "http.header_bytes", "postback.upstream_bytes"),
        BoundRow(.one("a stream"), "stream.max_requests", "stream.max_bytes"),
        BoundRow(
            .one("a connection"), "limits.streams_per_connection",
            "connections.pings_per_30_seconds", "http.streams_per_connection"),
        BoundRow(
            .one("an address"), "connections.max_per_address", "connections.new_per_second",
            "http.max_per_address", "postback.per_address_per_second"),
        BoundRow(
            .one("a tenant"), "quotas.events_per_second", "quotas.bytes_per_second",
            "tap.max_readers_per_tenant", "webhook.max_refused_in_row", "postgresql.max_refused"),
        BoundRow(.one("a reader of the tap"), "tap.queue_bytes", "tap.events_per_second"),
        BoundRow(
            .shares(
                test: "a tenant that leaves no answer read leaves another its half of the memory"),
            "limits.bytes_in_flight"),
        BoundRow(
            .shares(
                test:
                    "a tenant with many connections leaves another its half, at the limit and not "
                    + "beyond"),
            "limits.bytes_waiting"),
        BoundRow(
            .shares(
                test:
                    "a tenant whose calls take all places leaves another its half, and their turns "
                    + "alternate"),
            "limits.waiting_calls"),
        BoundRow(
            .shares(
                test: "a peer with all watches leaves another its half, at the limit and not beyond"
            ),
            "health.max_watchers"),
        BoundRow(
            .shares(
                test: "a host whose many addresses have all places leaves another host its half"),
            "postback.upstream_requests"),
        BoundRow(
            .shares(
                test: "readers are refused beyond tap.max_readers and a tenant's share, the socket "
                    + "apart"),
            "tap.max_readers"),
        BoundRow(
            .shares(
                test: "a single event is in the next group, whatever waits: another tenant's, or "
                    + "another stream's"),
            "journal.group_bytes"),
        BoundRow(
            .shares(
                test: "a tenant that floods the ledger leaves rows to the others, again and again"),
            "ledger.max_rows"),
        BoundRow(
            .shares(
                test: "a tenant that uses up deliveries.max_rows leaves others their share"),
            "deliveries.max_rows"),
        BoundRow(
            .shares(
                test:
                    "beyond quarantine.max_bytes the oldest events of the tenant that has most go "
                    + "first"),
            "quarantine.max_bytes"),
        BoundRow(
            Self.tenantShares, "quarantine.queue_bytes", "dead_letters.max_rows",
            "privacy.max_forgotten"),
        BoundRow(
            .common(
                because: "it is decided before credentials are known, each address has "
                    + "connections.max_per_address of them, and open files cannot be exceeded"),
            "connections.max"),
        BoundRow(
            .common(
                because: "it is decided before credentials are known, each address has "
                    + "http.max_per_address of them, and open files cannot be exceeded"),
            "http.max_connections"),
        BoundRow(
            .common(because: "beyond it answers are sent plain, and nobody is refused"),
            "compression.max_streams"),
        BoundRow(
            .common(
                because: "tenants beyond it share one quota; those that use theirs least go first"),
            "quotas.max_tenants"),
        BoundRow(
            .common(
                because:
                    "what is acknowledged cannot be given up; a tenant's part is bounded by its "
                    + "quota, and it fills only while a required sink is away or too slow"),
            "journal.max_bytes"),
        BoundRow(
            .common(
                because: "beyond it groups are read from the disk; without a disk it is the journal"
            ),
            "journal.cache_bytes"),
        BoundRow(
            .common(
                because: "beyond it the oldest facts count again if they come again, and none is "
                    + "refused; a tenant's part is bounded by its quota"),
            "journal.recent_hits"),
        BoundRow(
            Self.sinkFiles, "sqlite.max_bytes", "jsonl.max_bytes", "jsonl.retain_files"),
        BoundRow(
            .common(because: "beyond it a fact costs a page read, and none is refused"),
            "sqlite.filter_bytes"),
        BoundRow(
            .common(because: "spans beyond it are dropped and counted; no request waits"),
            "telemetry.traces.queue_spans"),
        BoundRow(
            .one("a span"), "telemetry.traces.max_attributes", "telemetry.traces.max_text",
            "telemetry.traces.max_events", "telemetry.traces.max_links"),
        BoundRow(.one("a call of the exporter"), "telemetry.traces.batch_spans"),
        BoundRow(.one("a file"), "journal.segment_bytes", "jsonl.file_bytes"),
        BoundRow(.one("the backend"), "nats.max_bytes", "nats.replicas"),
        BoundRow(
            .one("a message or a request to a backend"), "kafka.max_batch_bytes",
            "kafka.max_message_bytes", "webhook.max_hits", "webhook.max_bytes",
            "grpc.message_bytes", "grpc.answer_bytes"),
        BoundRow(
            Self.inOrder, "delivery.max_bytes", "delivery.max_hits", "nats.max_in_flight",
            "kafka.max_in_flight", "kafka.max_topics", "kafka.max_queued_hits",
            "kafka.max_queued_bytes", "campaign.max_in_flight", "postgresql.max_hits",
            "postgresql.max_bytes", "grpc.window_hits", "grpc.window_bytes"),
        BoundRow(.one("the operator"), "admin.max_connections", "admin.header_bytes"),
    ]
}

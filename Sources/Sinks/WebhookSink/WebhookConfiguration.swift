package import ConfigurationKeys

/// Settings of the webhook sink.
package struct WebhookConfiguration: KeyedConfiguration, Equatable {
    /// Where batches are posted.
    package var url = ""
    /// The path of the file with one secret, or with two while they are changed.
    package var secretFile = ""
    /// What each event's source begins with; the tenant follows.
    package var source = "/sightline"
    /// Hosts, addresses and networks that may be connected to although they are not public.
    package var allow = ""
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The maximum number of hits in a request.
    package var maxHits = 100
    /// The maximum number of bytes of a request's body.
    package var maxBytes = 256 << 10
    /// The maximum number of bytes of an answer that are read. It has no key: an answer names hits
    /// of its request at most.
    package var maxAnswerBytes = 64 << 10
    /// How long a connection may take.
    package var connectTimeout = Duration.seconds(5)
    /// How long a request may take, up to the end of its answer.
    package var timeout = Duration.seconds(20)
    /// How long the address of a host is used before it is looked up again.
    package var resolveInterval = Duration.seconds(60)
    /// The longest wait that a receiver may ask for.
    package var maxRetryAfter = Duration.seconds(3600)
    /// How many hits of a tenant in a row are found one by one where the receiver refuses them.
    package var maxRefusedInRow = 100

    /// Creates the default settings.
    package init() {}

    /// The keys `webhook.*`.
    package static let keys: [Key] = [
        .text(
            "webhook.url", \.url, "where batches are posted: https, or http to this machine",
            unit: "URL", isSecret: true),
        .text(
            "webhook.secret_file", \.secretFile,
            "the secret that signs (whsec_ and base64), or two in a line each while it is "
                + "changed; read again for each batch"),
        .text(
            "webhook.source", \.source, "what an event's source begins with: {source}/{tenant}",
            unit: "URI"),
        .text(
            "webhook.allow", \.allow,
            "hosts, addresses and networks (10.1.0.0/16) that may be connected to although they "
                + "are not public, with commas between them", unit: "hosts"),
        .text(
            "webhook.tls.roots", \.tlsRoots, "authorities of the receiver's certificate",
            unit: "PEM file"),
        .number("webhook.max_hits", \.maxHits, 1...10_000, "hits in a request", unit: "hits"),
        .number(
            "webhook.max_bytes", \.maxBytes, 1024...(64 << 20),
            "bytes of a request's body; a hit that exceeds them alone is a dead letter"),
        .duration(
            "webhook.connect_seconds", \.connectTimeout, 1...60, "seconds to connect"),
        .duration(
            "webhook.timeout_seconds", \.timeout, 1...300,
            "seconds of a request, up to the end of its answer"),
        .duration(
            "webhook.resolve_seconds", \.resolveInterval, 1...86_400,
            "seconds until a host's address is looked up again"),
        .duration(
            "webhook.max_retry_after_seconds", \.maxRetryAfter, 0...86_400,
            "seconds that a receiver may ask to wait, at most (Retry-After)"),
        .number(
            "webhook.max_refused_in_row", \.maxRefusedInRow, 1...1_000_000,
            "hits of a tenant that a status of 400, 413 or 422 makes dead letters one by one, "
                + "without one accepted between them; then by the request, or the sink waits if "
                + "the receiver refuses [] too", unit: "hits"),
    ]
}

// The keys of the nats sink.
package import TrackingSinks

extension ConfigurationKey {
    static let nats: [ConfigurationKey] = [
        .init(
            "nats.servers", .text("nats://127.0.0.1:4222"),
            "servers, with commas between them; tls:// in place of nats:// asks for TLS",
            unit: "URLs"),
        .text("nats.stream", \.nats.stream, "name of the JetStream stream", unit: "name"),
        .text(
            "nats.subject_prefix", \.nats.subjectPrefix,
            "what subjects begin with: {prefix}.{tenant}.{app}.{kind}.{action}", unit: "subject"),
        .flag("nats.make_stream", \.nats.makesStream, "whether a stream that is missing is made"),
        .number(
            "nats.replicas", \.nats.replicas, 1...5, "servers that hold the stream, at least",
            unit: "servers"),
        .number(
            "nats.max_bytes", \.nats.maxBytes, 1...(1 << 50),
            "bytes that the stream holds, at least; a full one refuses hits"),
        .duration(
            "nats.max_age_seconds", \.nats.maxAge, 0...(3650 * 86_400),
            "seconds that a stream which is made keeps a hit; 0 for ever"),
        .duration(
            "nats.duplicate_seconds", \.nats.duplicateWindow, 1...(30 * 86_400),
            "seconds for which the stream knows a hit again, at least"),
        .duration(
            "nats.retain_seconds", \.nats.retention, 0...(30 * 86_400),
            "seconds that a batch is kept after the stream has it, to be fed again after a loss"),
        .duration(
            "nats.ack_seconds", \.nats.ackTimeout, 1...60,
            "seconds that the stream's ack may take before a hit is sent again"),
        .number(
            "nats.max_in_flight", \.nats.maxInFlight, 1...65_536,
            "hits that may wait for their ack",
            unit: "hits"),
        .text("nats.credentials_file", \.nats.credentialsFile, "JWT and seed, as nsc writes them"),
        .text("nats.user", \.nats.user, "who the server knows us as", unit: "name"),
        .text("nats.password_file", \.nats.passwordFile, "that user's password, in one line"),
        .text(
            "nats.tls.roots", \.nats.tlsRoots, "authorities of the servers' certificates",
            unit: "PEM file"),
        .text(
            "nats.tls.certificate", \.nats.tlsCertificate, "the certificate shown to the servers",
            unit: "PEM file"),
        .text("nats.tls.key", \.nats.tlsKey, "the key of that certificate", unit: "PEM file"),
    ]

    /// By how many seconds the stream has to know a hit for longer than it is kept to be fed again.
    static let duplicateMarginSeconds = 60
}

extension NATSConfiguration {
    /// Reads what is more than one value; what contradicts itself is a problem where the sink is
    /// used.
    mutating func read(_ values: inout ConfigurationValues) {
        self.servers = values.text("nats.servers").split(separator: ",").map(String.init)
        if values.text("sink") == SinkKind.nats.rawValue { Self.check(&values) }
    }

    /// Why a program that was built without the trait cannot have this sink.
    package static let absence = "this program was built without it: swift build --traits NATS"

    private static func check(_ values: inout ConfigurationValues) {
        #if !NATS
            values.refuse("sink", Self.absence)
        #endif
        let retention = max(
            values.number("nats.retain_seconds"), values.number("journal.retain_seconds"))
        let needed = retention + ConfigurationKey.duplicateMarginSeconds
        if values.number("nats.duplicate_seconds") < needed {
            values.refuse(
                "nats.duplicate_seconds",
                "has to be at least \(needed): \(retention) s of retention and "
                    + "\(ConfigurationKey.duplicateMarginSeconds) s more, or else what is fed "
                    + "again after a loss counts twice")
        }
        let maxAge = values.number("nats.max_age_seconds")
        if maxAge != 0, maxAge < values.number("nats.duplicate_seconds") {
            values.refuse(
                "nats.max_age_seconds", "has to be 0, or at least nats.duplicate_seconds")
        }
        for (name, other) in [
            ("nats.user", "nats.password_file"), ("nats.password_file", "nats.user"),
            ("nats.tls.certificate", "nats.tls.key"), ("nats.tls.key", "nats.tls.certificate"),
        ] where !values.text(name).isEmpty && values.text(other).isEmpty {
            values.refuse(name, "needs \(other) too")
        }
        if !Self.isSubject(values.text("nats.subject_prefix")) {
            values.refuse("nats.subject_prefix", "has to be letters, digits, -, _ and single dots")
        }
        let stream = values.text("nats.stream")
        if stream.contains(".") || !Self.isSubject(stream) {
            values.refuse("nats.stream", "has to be letters, digits, - and _")
        }
    }

    /// Whether a text is a subject without wildcards, of plain words.
    private static func isSubject(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty
                && word.utf8.allSatisfy { byte in
                    (48...57).contains(byte) || (65...90).contains(byte & 0xdf) || byte == 45
                        || byte == 95
                }
        }
    }
}

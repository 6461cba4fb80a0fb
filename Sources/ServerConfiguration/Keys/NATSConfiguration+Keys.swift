// The keys of the nats sink.
package import TrackingSinks

extension ConfigurationKey {
    static let nats: [ConfigurationKey] = [
        .init(
            "nats.servers", .text("nats://127.0.0.1:4222"),
            "servers, with commas between them; tls:// in place of nats:// asks for TLS",
            unit: "URLs"),
        .init("nats.stream", .text("SIGHTLINE"), "name of the JetStream stream", unit: "name"),
        .init(
            "nats.subject_prefix", .text("sightline"),
            "what subjects begin with: {prefix}.{tenant}.{app}.{kind}.{action}", unit: "subject"),
        .init("nats.make_stream", .flag(true), "whether a stream that is missing is made"),
        .init(
            "nats.replicas", .number(1, 1...5), "servers that hold the stream, at least",
            unit: "servers"),
        .init(
            "nats.max_bytes", .number(8 << 30, 1...(1 << 50)),
            "bytes that the stream holds, at least; a full one refuses hits"),
        .init(
            "nats.max_age_seconds", .number(7 * 86_400, 0...(3650 * 86_400)),
            "seconds that a stream which is made keeps a hit; 0 for ever"),
        .init(
            "nats.duplicate_seconds", .number(900, 1...(30 * 86_400)),
            "seconds for which the stream knows a hit again, at least"),
        .init(
            "nats.retain_seconds", .number(600, 0...(30 * 86_400)),
            "seconds that a batch is kept after the stream has it, to be fed again after a loss"),
        .init(
            "nats.ack_seconds", .number(5, 1...60),
            "seconds that the stream's ack may take before a hit is sent again"),
        .init(
            "nats.max_in_flight", .number(4096, 1...65_536), "hits that may wait for their ack",
            unit: "hits"),
        .init("nats.credentials_file", .text(""), "JWT and seed, as nsc writes them"),
        .init("nats.user", .text(""), "who the server knows us as", unit: "name"),
        .init("nats.password_file", .text(""), "that user's password, in one line"),
        .init(
            "nats.tls.roots", .text(""), "authorities of the servers' certificates",
            unit: "PEM file"),
        .init(
            "nats.tls.certificate", .text(""), "the certificate shown to the servers",
            unit: "PEM file"),
        .init("nats.tls.key", .text(""), "the key of that certificate", unit: "PEM file"),
    ]

    /// By how many seconds the stream has to know a hit for longer than it is kept to be fed again.
    static let duplicateMarginSeconds = 60
}

extension NATSConfiguration {
    /// Reads the keys; what contradicts itself is a problem where the sink is used.
    init(_ values: inout ConfigurationValues) {
        self.init()
        self.servers = values.text("nats.servers").split(separator: ",").map(String.init)
        self.stream = values.text("nats.stream")
        self.subjectPrefix = values.text("nats.subject_prefix")
        self.makesStream = values.flag("nats.make_stream")
        self.replicas = values.number("nats.replicas")
        self.maxBytes = values.number("nats.max_bytes")
        self.maxAge = .seconds(values.number("nats.max_age_seconds"))
        self.duplicateWindow = .seconds(values.number("nats.duplicate_seconds"))
        self.ackTimeout = .seconds(values.number("nats.ack_seconds"))
        self.maxInFlight = values.number("nats.max_in_flight")
        self.credentialsFile = values.text("nats.credentials_file")
        self.user = values.text("nats.user")
        self.passwordFile = values.text("nats.password_file")
        self.tlsRoots = values.text("nats.tls.roots")
        self.retention = .seconds(values.number("nats.retain_seconds"))
        self.tlsCertificate = values.text("nats.tls.certificate")
        self.tlsKey = values.text("nats.tls.key")
        if values.text("sink") == SinkKind.nats.rawValue { Self.check(&values) }
    }

    #if !NATS
        /// Why a program that was built without the trait cannot have this sink.
        package static let absence = "this program was built without it: swift build --traits NATS"
    #endif

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

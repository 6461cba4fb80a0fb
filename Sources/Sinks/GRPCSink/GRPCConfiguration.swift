package import ConfigurationKeys

/// Settings of the grpc sink.
package struct GRPCConfiguration: KeyedConfiguration, Equatable {
    /// The backend, as `host:port`.
    package var target = ""
    /// Whether to use TLS.
    package var tlsMode = TLSMode.auto
    /// Whether hits may go to another machine without TLS.
    package var allowsPlaintext = false
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The path of the client certificate (PEM); empty for none.
    package var tlsCertificate = ""
    /// The path of the client certificate's key.
    package var tlsKey = ""
    /// The path of the file with the key or token that is sent as a bearer; empty for none.
    package var keyFile = ""
    /// The maximum number of hits that are sent and not acknowledged yet.
    package var windowHits = 16_384
    /// The maximum number of bytes that are sent and not acknowledged yet.
    package var windowBytes = 16 << 20
    /// The maximum number of bytes of a message.
    package var messageBytes = 512 << 10
    /// The maximum number of bytes of an answer: 1 KiB for each hit of a batch, since Welcome
    /// repeats the refusals of a batch that is not settled.
    package var answerBytes = 64 << 20
    /// How long it may take to connect, up to the backend's Welcome.
    package var connectTimeout = Duration.seconds(5)
    /// How long the backend may take until it acknowledges something.
    package var ackTimeout = Duration.seconds(10)
    /// The interval of HTTP/2 PINGs, and the longest time that the answer to one may take.
    package var keepaliveInterval = Duration.seconds(330)
    /// The longest wait that a backend may ask for.
    package var maxBusy = Duration.seconds(300)

    /// When TLS is used.
    package enum TLSMode: String, CaseIterable, Sendable {
        /// Unless the backend is on this machine.
        case auto
        /// Always.
        case tls
        /// Never.
        case plaintext
    }

    /// Creates the default settings.
    package init() {}

    /// Whether TLS is used; true for a target that cannot be read.
    package var isEncrypted: Bool {
        switch self.tlsMode {
        case .auto: GRPCTarget(self.target)?.isLoopback != true
        case .tls: true
        case .plaintext: false
        }
    }

    /// The least that a message may be limited to, by the key or by the backend: less would make a
    /// dead letter of each hit.
    package static let leastMessageBytes = 1024

    /// The keys `grpc.*`.
    package static let keys: [Key] = [
        .text("grpc.target", \.target, "the backend: host:port, or [IPv6]:port", unit: "address"),
        .choice(
            "grpc.tls.mode", \.tlsMode,
            "whether to use TLS; auto: unless the backend is on this machine"),
        .flag(
            "grpc.allow_insecure", \.allowsPlaintext,
            "whether hits may go to another machine without TLS"),
        .text(
            "grpc.tls.roots", \.tlsRoots, "authorities of the backend's certificate",
            unit: "PEM file"),
        .text(
            "grpc.tls.certificate", \.tlsCertificate, "the certificate shown to the backend",
            unit: "PEM file"),
        .text("grpc.tls.key", \.tlsKey, "the key of that certificate", unit: "PEM file"),
        .text(
            "grpc.key_file", \.keyFile,
            "a key or token in one line, sent as a bearer; read again for each connection"),
        .number(
            "grpc.window_hits", \.windowHits, 1...1_000_000,
            "hits that may wait for their ack", unit: "hits"),
        .number(
            "grpc.window_bytes", \.windowBytes, 1024...(1 << 30),
            "bytes of messages that may wait for their ack"),
        .number(
            "grpc.message_bytes", \.messageBytes, Self.leastMessageBytes...(64 << 20),
            "bytes of a message; a hit that exceeds them alone is a dead letter"),
        .number(
            "grpc.answer_bytes", \.answerBytes, 1024...(64 << 20),
            "bytes of a message of the backend that are read"),
        .duration(
            "grpc.connect_seconds", \.connectTimeout, 1...300,
            "seconds to connect, up to the backend's Welcome"),
        .duration(
            "grpc.ack_seconds", \.ackTimeout, 1...600,
            "seconds without an ack after which the stream is broken off"),
        .duration(
            "grpc.keepalive_seconds", \.keepaliveInterval, 10...86_400,
            "seconds between HTTP/2 PINGs; an answer may take as long, but at most 20; many "
                + "servers close connections on which one comes more often than each 300"),
        .duration(
            "grpc.max_busy_seconds", \.maxBusy, 0...86_400,
            "seconds that a backend may ask to wait, at most"),
    ]
}

// What contradicts itself in the keys of the nats sink.
package import NATSSink

extension NATSConfiguration {
    /// By how many seconds the stream has to know a hit for longer than it is kept to be fed again.
    private static let duplicateMarginSeconds = 60

    /// Why a program that was built without the trait cannot have this sink.
    package static let absence = "this program was built without it: swift build --traits NATS"

    /// Refuses what contradicts itself; for a server that uses the sink.
    static func check(_ values: inout ConfigurationValues) {
        let retention = max(
            values.number("nats.retain_seconds"), values.number("journal.retain_seconds"))
        let needed = retention + Self.duplicateMarginSeconds
        if values.number("nats.duplicate_seconds") < needed {
            values.refuse(
                "nats.duplicate_seconds",
                "has to be at least \(needed): \(retention) s of retention and "
                    + "\(Self.duplicateMarginSeconds) s more, or else what is fed again after a "
                    + "loss counts twice")
        }
        let maxAge = values.number("nats.max_age_seconds")
        if maxAge != 0, maxAge < values.number("nats.duplicate_seconds") {
            values.refuse(
                "nats.max_age_seconds", "has to be 0, or at least nats.duplicate_seconds")
        }
        values.refuseAlone([
            ("nats.user", "nats.password_file"), ("nats.password_file", "nats.user"),
            ("nats.tls.certificate", "nats.tls.key"), ("nats.tls.key", "nats.tls.certificate"),
        ])
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

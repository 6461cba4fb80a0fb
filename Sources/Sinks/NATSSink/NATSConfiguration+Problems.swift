// What contradicts itself in the keys of the nats sink.
package import ConfigurationKeys
package import SinkKit

extension NATSConfiguration: SinkConfiguration {
    #if !NATS
    /// Why a program that was built without the trait cannot have this sink.
    package static let absence: String? =
        "this program was built without it: swift build --traits NATS"
    #endif

    /// By how many seconds the stream has to know a hit for longer than it is kept to be fed again.
    private static let duplicateMarginSeconds: Int64 = 60

    /// A stream takes the hits of two sinks for each other's duplicates.
    package var exclusive: SinkExclusive? {
        SinkExclusive(
            [self.stream],
            problem: "two sinks have the stream \(self.stream), which would take the hits "
                + "of one for duplicates of the other's: give one of them its own stream "
                + "and subject_prefix")
    }

    /// Refuses what contradicts itself.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        let retention = max(self.retention, sink.journalRetention).components.seconds
        let needed = retention + Self.duplicateMarginSeconds
        if self.duplicateWindow < .seconds(needed) {
            problems.refuse(
                \.duplicateWindow,
                "has to be at least \(needed): \(retention) s of retention and "
                    + "\(Self.duplicateMarginSeconds) s more, or else what is fed again after a "
                    + "loss counts twice")
        }
        if self.maxAge != .zero, self.maxAge < self.duplicateWindow {
            problems.refuse(
                \.maxAge, "has to be 0, or at least \(Self.name(of: \.duplicateWindow))")
        }
        let areTLS = Set(self.servers.map(Self.asksForTLS))
        if areTLS.count > 1 {
            problems.refuse(
                \.servers,
                "has to have tls:// in all of its URLs, or in none: one setting of TLS holds for "
                    + "all servers")
        }
        problems.refuse(\.user, without: \.passwordFile, in: self)
        problems.refuse(\.passwordFile, without: \.user, in: self)
        problems.refuse(\.tlsCertificate, without: \.tlsKey, in: self)
        problems.refuse(\.tlsKey, without: \.tlsCertificate, in: self)
        if !Self.isSubject(self.subjectPrefix) {
            problems.refuse(\.subjectPrefix, "has to be letters, digits, -, _ and single dots")
        }
        if self.stream.contains(".") || !Self.isSubject(self.stream) {
            problems.refuse(\.stream, "has to be letters, digits, - and _")
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

package import ConfigurationKeys

/// The settings `privacy.*`: how recipients' ids are recorded, and how many may be forgotten.
package struct PrivacyConfiguration: KeyedConfiguration {
    /// How a subject's id is recorded.
    package enum SubjectForm: String, CaseIterable, Sendable {
        /// As it was sent.
        case plain
        /// As a keyed hash.
        case hashed
    }

    /// How subjects' ids are recorded.
    package var subject = SubjectForm.plain
    /// The path of the file with the keys of the hashes.
    package var keyFile = ""
    /// The number of tombstones that tenants share; each forgotten id has one.
    package var maxForgotten = 1_000_000

    /// Creates the default settings.
    package init() {}

    /// The keys `privacy.*`.
    package static let keys: [Key] = [
        .choice(
            "privacy.subject", \.subject,
            "what is recorded of a recipient's id: the id, or a keyed hash of it, which is all "
                + "that rules, sinks and files then see"),
        .text(
            "privacy.key_file", \.keyFile,
            "file of the keys for that hash: in each line at least 16 bytes in base64, the newest "
                + "key first; the others are former ones, by which subjects are forgotten"),
        .number(
            "privacy.max_forgotten", \.maxForgotten, 1...100_000_000,
            "maximum number of forgotten ids that are remembered, as hashes, of which each of N "
                + "tenants may have the N-th part in any case; beyond them no subject can be "
                + "forgotten", unit: "ids"),
    ]
}

package import ConfigurationKeys

/// The settings `privacy.*`: how recipients are named in what is recorded.
package struct PrivacyConfiguration: KeyedConfiguration {
    /// What is recorded of a subject's id.
    package enum SubjectForm: String, CaseIterable, Sendable {
        /// The id as it was sent.
        case plain
        /// A keyed hash of it.
        case hashed
    }

    /// What is recorded of a subject's id.
    package var subject = SubjectForm.plain
    /// The file of the keys for the hashes.
    package var keyFile = ""
    /// The maximum number of subjects that are remembered as forgotten.
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
            "maximum number of forgotten ids that are remembered, as hashes; beyond them no "
                + "subject can be forgotten", unit: "ids"),
    ]
}

package import ConfigurationKeys

/// How much the ledger keeps.
package struct LedgerConfiguration: KeyedConfiguration, Equatable {
    /// The maximum number of rows.
    package var maxRows = 100_000
    /// The days after which a row is dropped.
    package var retainDays = 90

    /// Creates the default settings.
    package init() {}

    /// The keys `ledger.*`.
    package static let keys: [Key] = [
        .number(
            "ledger.max_rows", \.maxRows, 100...10_000_000,
            "rows of the ledger, of some 500 bytes of memory each, and at most 1 KiB; what has no "
                + "row is counted in `other`"),
        .number(
            "ledger.retain_days", \.retainDays, 1...3650,
            "days that the ledger keeps a row"),
    ]
}

package import ConfigurationKeys

/// The settings `deliveries.*`: how many totals of deliveries are kept, and for how long.
package struct DeliveryTotalsConfiguration: KeyedConfiguration {
    /// The number of deliveries that tenants share.
    package var maxRows = 100_000
    /// The days after which a delivery is deleted that was not put again.
    package var retainDays = 400

    /// Creates the default settings.
    package init() {}

    /// The keys `deliveries.*`.
    package static let keys: [Key] = [
        .number(
            "deliveries.max_rows", \.maxRows, 1...10_000_000,
            "deliveries whose totals are kept in deliveries.db, of some 2 KiB each at most, of "
                + "which each of N tenants may have the N-th part in any case; those beyond are "
                + "rejected", unit: "deliveries"),
        .number(
            "deliveries.retain_days", \.retainDays, 1...3650,
            "days that they are kept since they were put last"),
    ]
}

package import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// A delivery of which one version of an app differs from the others: a part of a report.
package struct VersionSplit: Codable, Sendable, Equatable {
    /// The tenant.
    package let tenant: String
    /// The delivery's id.
    package let delivery: String
    /// The counts of all its versions, by platform and version.
    package let versions: [VersionCounts]

    /// Creates a split from its parts.
    package init(tenant: String, delivery: String, versions: [VersionCounts]) {
        self.tenant = tenant
        self.delivery = delivery
        self.versions = versions
    }

    fileprivate var events: UInt64 {
        self.versions.reduce(0) { $0 &+ $1.sent &+ $1.reports }
    }
}

extension Ledger {
    /// The splits of all deliveries of which a version differs, those with the most events first.
    /// Reads the whole table.
    ///
    /// - Parameters:
    ///   - tenant: the tenant of the deliveries; nil for all.
    ///   - delivery: the only delivery to look at; nil for all.
    ///   - limit: the maximum number of deliveries.
    package func versionSplits(
        tenant: String? = nil, delivery: String? = nil, limit: Int
    ) -> [VersionSplit] {
        let only = delivery.map { ExactText(Self.name(of: $0)) }
        var rows: [DeliveryPlace: [DeliveryAccountLine.Row]] = [:]
        for row in self.all where row.outcome == .version && !row.delivery.isEmpty {
            let place = DeliveryPlace(tenant: row.tenant, delivery: row.delivery)
            guard tenant.map({ place.tenant == ExactText($0) }) ?? true,
                only.map({ place.delivery == $0 }) ?? true
            else { continue }
            rows[place, default: []].append(DeliveryAccountLine.Row(row))
        }
        let splits = rows.compactMap { place, rows -> VersionSplit? in
            let versions = VersionCounts.split(rows)
            guard !versions.isEmpty else { return nil }
            return VersionSplit(
                tenant: place.tenant.text, delivery: place.delivery.text, versions: versions)
        }
        return Array(
            splits.sorted {
                ($1.events, ExactText($0.tenant), ExactText($0.delivery))
                    < ($0.events, ExactText($1.tenant), ExactText($1.delivery))
            }.prefix(limit))
    }
}

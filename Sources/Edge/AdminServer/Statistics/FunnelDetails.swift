internal import AdminProtocol
internal import DeliveryDiagnosis
internal import TrackingJournal
internal import TrackingRules

extension Statistics.Funnel {
    /// The reasons that are told of a delivery, and its versions.
    static let (maxReasons, maxVersions) = (4, 8)

    /// Adds why attempts failed, and the split by version if one differs, from the newest rows of
    /// the delivery: as many as `sightline why` reads.
    mutating func addDetails(from ledger: Ledger) {
        let counts = ledger.counts(
            tenant: self.tenant, delivery: self.deliveryId, limit: DeliveryAccount.maxRows)
        var rows: [DeliveryAccountLine.Row] = []
        for row in counts.lazy.map(\.row) where row.counted != nil {
            // A message may have the id of a delivery.
            guard (row.product == .firebase) == self.isInApp else { continue }
            rows.append(DeliveryAccountLine.Row(row))
        }
        let reasons = rows.sends(of: "\(HitKind.sendFailed.name)") { $0.sendReason ?? "" }
        if !reasons.isEmpty {
            self.failedFor = reasons.prefix(Self.maxReasons).map {
                Statistics.ReasonCount(reason: $0.name, count: Int(clamping: $0.events))
            }
        }
        let versions = VersionCounts.split(rows)
        if !versions.isEmpty { self.versions = Self.shown(of: versions) }
    }

    /// Those that differ, and beside them the busiest others.
    private static func shown(of versions: [VersionCounts]) -> [Statistics.Version] {
        versions.enumerated().sorted { left, right in
            if left.element.differs != right.element.differs { return left.element.differs }
            let (more, less) = (left.element.events, right.element.events)
            return more == less ? left.offset < right.offset : more > less
        }.prefix(Self.maxVersions).map { Statistics.Version($0.element) }
    }
}

extension VersionCounts {
    fileprivate var events: UInt64 { self.sent &+ self.reports }
}

extension Statistics.Version {
    fileprivate init(_ version: VersionCounts) {
        self.init(
            version: version.appVersion, platform: version.platform, differs: version.differs,
            sent: Int(clamping: version.sent), reports: Int(clamping: version.reports),
            refused: Int(clamping: version.refused),
            impressions: Int(clamping: version.impressions),
            clicks: Int(clamping: version.clicks), opens: Int(clamping: version.opens))
    }
}

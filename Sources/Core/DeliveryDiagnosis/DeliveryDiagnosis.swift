// Explains a delivery's figures: counts in, findings out.
package import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// Explains the figures of a delivery from the ledger's rows. `DeliveryAccount` creates one for
/// each delivery that somebody asks about, and reads its findings.
///
/// It is a pure function of its rows and the hour: it reads no file and no clock, and the same rows
/// always give the same findings. Each finding is a row of docs/why.md.
package struct DeliveryDiagnosis: Sendable {
    /// What is wrong, the most events first; empty if nothing is.
    package let findings: [DeliveryFinding]

    /// The fewest reports that prove a pattern of many events.
    package static let fewReports: UInt64 = 20

    /// The fewest sends that prove that something is missing, or has grown.
    package static let fewSends: UInt64 = 100

    /// The hours after which what was sent should have been reported: by then most devices have
    /// been on.
    package static let settlingHours: UInt32 = 6

    /// Diagnoses a delivery.
    ///
    /// - Parameters:
    ///   - delivery: its id, for the sentences.
    ///   - rows: the delivery's rows.
    ///   - unnamed: rows of the same tenant whose events have no delivery.
    ///   - before: rows of the delivery that was sent before it; empty if there is none.
    ///   - hour: now, in hours since 1970.
    ///   - totals: what its sender has put of it as a whole; nil if it has not.
    package init(
        of delivery: String, rows: [LedgerRow], unnamed: [LedgerRow], before: [LedgerRow] = [],
        hour: UInt32, totals: DeliveryTotals? = nil
    ) {
        let byPlatform = DeliveryCounts.byPlatform(rows, hour: hour)
        let countsBefore = DeliveryCounts.byPlatform(before, hour: hour)
        let isSent = byPlatform.contains { $0.hits(.sent) > 0 }
        let isReported = byPlatform.contains { $0.reports > 0 }
        var findings: [DeliveryFinding] = []
        for counts in byPlatform {
            findings += counts.patterns + counts.flagFindings + counts.rejectionFindings
            findings += counts.sendFindings(
                isSent: isSent, isReported: isReported,
                before: countsBefore.first {
                    $0.platform == counts.platform && $0.product == counts.product
                })
        }
        if !isReported, let finding = Self.nothingReported(byPlatform) { findings.append(finding) }
        let isAnyAccepted = rows.contains { row in
            guard case .accepted = row.outcome.meaning else { return false }
            return row.isReport
        }
        findings += Self.findings(
            unnamed: Self.concerned(unnamed, by: rows), isAnyAccepted: isAnyAccepted)
        if let difference = Self.difference(of: totals, from: rows) { findings.append(difference) }
        if let incomplete = Self.incomplete(unnamed) { findings.append(incomplete) }
        findings = findings.enumerated().sorted {
            ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
        }.map(\.element)
        if rows.isEmpty { findings.insert(Self.nothingSeen(delivery), at: 0) }
        self.findings = findings
    }

    /// The rows without a delivery that may belong to this one: those of its apps, or all if it has
    /// no row itself.
    package static func concerned(
        _ unnamed: [LedgerRow], by rows: [LedgerRow]
    ) -> [LedgerRow] {
        let apps = Set(rows.map { ExactText($0.app) })
        return unnamed.filter {
            !$0.isOther && (apps.isEmpty || apps.contains(ExactText($0.app)))
        }
    }

    private static func nothingSeen(_ delivery: String) -> DeliveryFinding {
        DeliveryFinding(
            code: .nothingSeen,
            sentence: "Nothing of delivery \(delivery) has arrived in the days that the ledger "
                + "keeps (ledger.retain_days): see that the app reports its interactions to this "
                + "server, with the payload's own _dId",
            figures: [.init(name: "events", value: 0)])
    }

    /// Threshold: 20 that were sent 6 hours ago or earlier, and that somebody could see.
    private static func nothingReported(_ byPlatform: [DeliveryCounts]) -> DeliveryFinding? {
        let sends = byPlatform.reduce(UInt64(0)) { sum, counts in
            let silent = counts.displays[.silent] ?? 0
            return sum + counts.settledSends - min(counts.settledSends, silent)
        }
        guard sends >= Self.fewReports else { return nil }
        return DeliveryFinding(
            code: .nothingReported,
            sentence: "\(sends.grouped) were sent \(Self.settlingHours) hours ago or earlier, and "
                + "no app has reported anything: see that the apps report to this server, with the "
                + "payload's own _dId",
            figures: [.init(name: "sent", value: sends)])
    }

    private static func findings(
        unnamed: [LedgerRow], isAnyAccepted: Bool
    ) -> [DeliveryFinding] {
        var findings: [DeliveryFinding] = []
        var rejections: [String: UInt64] = [:]
        var withoutConsent: UInt64 = 0
        for row in unnamed {
            switch row.outcome.meaning {
            case .refused(.suppressedConsent): withoutConsent += row.count
            case .refused(.rejected): rejections[row.detail, default: 0] += row.count
            default: break
            }
        }
        if withoutConsent > 0, !isAnyAccepted {
            findings.append(
                DeliveryFinding(
                    code: .consentMissing,
                    sentence: Self.ofApps(
                        withoutConsent, "was not tracked, for its recipient gave no consent",
                        "were not tracked, for their recipients gave no consent")
                        + "; such events are counted without their delivery, and may be this one's",
                    figures: [.init(name: "without_consent", value: withoutConsent)]))
        }
        for (rule, count) in rejections.sorted(by: { $0.key < $1.key }) {
            findings.append(
                DeliveryFinding(
                    code: .rejectedWithoutDelivery,
                    sentence: Self.ofApps(
                        count, "that names no delivery was rejected",
                        "that name no delivery were rejected")
                        + ": \(DeliveryCounts.explained(rule))",
                    figures: [.init(name: "rejected", value: count)]))
        }
        return findings
    }

    /// Begins a sentence on events of the delivery's apps: `one` follows a single event.
    private static func ofApps(_ count: UInt64, _ one: String, _ many: String) -> String {
        count == 1 ? "1 event of its apps \(one)" : "\(count.grouped) events of its apps \(many)"
    }

    private static func incomplete(_ unnamed: [LedgerRow]) -> DeliveryFinding? {
        let count = unnamed.lazy.filter(\.isOther).reduce(0) { $0 + $1.count }
        guard count > 0 else { return nil }
        return DeliveryFinding(
            code: .incomplete,
            sentence: (count == 1
                ? "1 older or further count is in `other`, without its "
                : "\(count.grouped) older or further counts are in `other`, without their ")
                + "delivery, for the ledger was full: some may be this one's; raise "
                + "ledger.max_rows",
            figures: [.init(name: "other", value: count)])
    }
}

extension DeliveryFinding {
    /// The order of the findings, highest first. An incomplete ledger comes last: it is no mistake
    /// of the app.
    fileprivate var weight: UInt64 {
        self.code == .incomplete ? 0 : self.figures.first?.value ?? 0
    }
}

// What the ledger must hold: all that was acked, and nothing that nobody has sent.
internal import TrackingJournal
internal import TrackingRules

/// The judge's own count of what requests add to the ledger.
struct LedgerBook {
    /// What acknowledged requests add. A resend is counted again, as the server does.
    private var acked = Ledger()
    /// Events of requests that were submitted and not refused. One without an ack may have been
    /// committed before a crash.
    private var submitted = 0

    mutating func sending(_ request: AdmittedRequest) { self.submitted += request.eventCount }

    mutating func refused(_ request: AdmittedRequest) { self.submitted -= request.eventCount }

    mutating func acked(_ request: AdmittedRequest) {
        var delta = LedgerDelta()
        delta.add(request)
        self.acked.apply(delta)
    }

    /// - Parameter mayLack: whether the disk has lost records, and their counts with them.
    /// - Throws: `Violation` where the ledger has too little or too much.
    func check(_ ledger: Ledger, mayLack: Bool) throws {
        let (owed, found) = (Self.counts(self.acked), Self.counts(ledger))
        for (key, count) in owed where !mayLack && found[key, default: 0] < count {
            throw Violation(
                "the ledger has \(found[key] ?? 0) of \(key), and \(count) were acked")
        }
        let events = ledger.all.reduce(0) { $0 + ($1.isEvent ? $1.count : 0) }
        if events > UInt64(self.submitted) {
            throw Violation(
                "the ledger has \(events) events, and at most \(self.submitted) were taken")
        }
    }

    /// Counts by all but the hour: the clock jumps.
    private static func counts(_ ledger: Ledger) -> [String: UInt64] {
        ledger.all.reduce(into: [:]) { counts, row in
            let platform = row.platform?.name ?? "-"
            counts[
                "\(row.delivery) \(platform) \(row.outcome.rawValue) \(row.told)", default: 0
            ] += row.count
        }
    }
}

extension LedgerRow {
    /// What the row's outcome does not tell.
    fileprivate var told: String {
        let counted = self.counted.map { "\($0.rawValue)" } ?? ""
        return "\(self.detail) \(counted) \(self.appVersion) \(self.mark.rawValue)"
    }

    /// Whether the row counts events, and no property of some that other rows count.
    fileprivate var isEvent: Bool {
        switch self.outcome.meaning {
        case .accepted, .duplicate, .refused: true
        case .warning, .closedImpression, .version, .send, .sentAndFailed, nil: false
        }
    }
}

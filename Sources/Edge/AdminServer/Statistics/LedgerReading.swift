internal import AdminProtocol
internal import DeliveryDiagnosis
internal import TrackingJournal
internal import TrackingRules

/// The parts of `/stats.json` that come from the ledger, and the pause until the ledger may be read
/// again.
///
/// A reading blocks the journal's queue only while it takes a reference, but the next commit then
/// copies the table. With 100,000 rows, measured on a busy machine, the copy takes 1 to 8 ms if the
/// commit changes counts, and mostly 4 to 18 ms if it adds a row. Adding up the funnels of 100,000
/// rows took at most 0.12 s, and diagnosing the deliveries 0.25 to 0.64 s, off the journal's queue.
/// So the ledger is read only on request, and then not again for a second per 10,000 rows: a full
/// table every 10 s, a small one every second.
struct LedgerReading {
    /// What was last read; nothing before the first reading.
    private(set) var figures = Figures()
    private var isUnderWay = false
    /// Seconds until the ledger may be read again.
    private var pause = 0

    /// What is read of a ledger.
    struct Figures {
        /// The funnels of the busiest deliveries.
        var deliveries = Statistics.Deliveries()
        /// The findings on deliveries.
        var quality: [Statistics.Trouble] = []
        /// The events of all days that it keeps.
        var ledger = Statistics.LedgerFigures()

        /// Nothing yet.
        init() {}

        /// Reads a ledger.
        ///
        /// - Parameters:
        ///   - funnels: those of its busiest deliveries.
        ///   - put: what tenants have put of deliveries.
        ///   - time: now, in seconds since 1970.
        init(_ ledger: Ledger, _ funnels: Ledger.Funnels, _ put: PutDeliveries, time: Double) {
            self.deliveries = Statistics.Deliveries(ledger, funnels, put)
            self.quality = [Statistics.Trouble](ledger, put.totals)
            self.ledger = Statistics.LedgerFigures(LedgerTotals(ledger), time: time)
        }
    }

    /// Rows of the ledger per second of pause after a reading.
    private static let rowsPerSecond = 10_000

    /// Whether the caller has to read the ledger now, and then to call `end`.
    mutating func begin() -> Bool {
        guard !self.isUnderWay, self.pause == 0 else { return false }
        self.isUnderWay = true
        return true
    }

    /// Stores a reading of a ledger with this number of rows.
    mutating func end(_ figures: Figures, rows: Int) {
        self.isUnderWay = false
        self.pause = max(1, rows / Self.rowsPerSecond)
        self.figures = figures
    }

    /// Counts down by a second.
    mutating func passSecond() { self.pause = max(0, self.pause - 1) }
}

extension LedgerReading {
    static let maxBusiest = 10
    private static let busyHours: UInt32 = 24

    /// The ten busiest deliveries of the last 24 hours.
    ///
    /// - Parameter time: now, in seconds since 1970.
    static func funnels(of ledger: Ledger, time: Double) -> Ledger.Funnels {
        let hour = UInt32(clamping: Int64(time / 3600))
        return ledger.funnels(
            busiestSince: hour - min(hour, Self.busyHours), limit: Self.maxBusiest)
    }
}

extension Statistics.Deliveries {
    /// The busiest deliveries, with their names and details; and if they leave room, those that
    /// were put last and have no hit.
    init(_ ledger: Ledger, _ funnels: Ledger.Funnels, _ put: PutDeliveries) {
        let busiest = funnels.busiest.map { funnel in
            var row = Statistics.Funnel(funnel)
            row.name = put.name(of: funnel.delivery, tenant: funnel.tenant)
            row.addDetails(from: ledger)
            return row
        }
        let room = PutDeliveries.maxRecent - busiest.count
        self.init(
            count: funnels.count, busiest: busiest,
            put: put.withoutHits(funnels, room: room).map(Statistics.Totals.init))
    }
}

extension [Statistics.Trouble] {
    private static let maxCount = 10

    /// The findings on deliveries, without their sentences: those may quote what a client sent.
    init(_ ledger: Ledger, _ totals: [DeliveryTotals]) {
        self = ledger.troubles(limit: Self.maxCount, totals: totals).map(Statistics.Trouble.init)
    }
}

extension Statistics.LedgerFigures {
    private static let maxRejections = 12

    /// What a ledger has of all events.
    ///
    /// - Parameter time: now, in seconds since 1970.
    init(_ totals: LedgerTotals, time: Double) {
        self.init()
        self.time = time
        self.events = Statistics.EventCounts(totals)
        self.rejections = totals.rejections.prefix(Self.maxRejections)
            .map(Statistics.Rejection.init)
    }
}

extension Statistics.EventCounts {
    fileprivate init(_ totals: LedgerTotals) {
        self.init()
        func count(_ verdict: Verdict) -> Int { Int(clamping: totals.refused(verdict)) }
        self.accepted = Int(clamping: totals.accepted)
        self.duplicate = Int(clamping: totals.duplicates)
        self.rejected = count(.rejected)
        self.suppressedBy.flagOff = count(.suppressedFlagOff)
        self.suppressedBy.flagUnknown = count(.suppressedFlagUnknown)
        self.suppressedBy.consent = count(.suppressedConsent)
        self.suppressedBy.testMessage = count(.suppressedTestMessage)
        self.suppressedBy.display = count(.suppressedDisplay)
        let reasons = self.suppressedBy
        self.suppressed =
            reasons.flagOff &+ reasons.flagUnknown &+ reasons.consent &+ reasons.testMessage
            &+ reasons.display
    }
}

extension Statistics.Rejection {
    fileprivate init(_ row: LedgerTotals.Rejection) {
        let parts = row.brokenRule.split(separator: " ", maxSplits: 1).map(String.init)
        let hour = Double(row.lastHour) * 3600
        self.init(
            field: parts.first ?? "", rule: parts.dropFirst().first?.uppercased() ?? "",
            count: Int(clamping: row.events), firstTime: hour, lastTime: hour)
    }
}

extension Statistics.Trouble {
    fileprivate init(_ trouble: DeliveryTrouble) {
        self.init(
            tenant: trouble.tenant, deliveryId: trouble.delivery, code: trouble.code,
            summary: DeliveryFinding.Code(rawValue: trouble.code)?.summary,
            events: Int(clamping: trouble.events))
    }
}

extension Statistics.Funnel {
    fileprivate init(_ funnel: LedgerFunnel) {
        self.init(tenant: funnel.tenant, deliveryId: funnel.delivery, isInApp: funnel.isInApp)
        self.impressions = Int(clamping: funnel.impressions.other)
        self.impressionsIos = Int(clamping: funnel.impressions.ios)
        self.clicks = Int(clamping: funnel.clicks.other)
        self.clicksIos = Int(clamping: funnel.clicks.ios)
        self.opens = Int(clamping: funnel.opens.other)
        self.opensIos = Int(clamping: funnel.opens.ios)
        let dismissals = funnel.dismissals
        self.dismissals = Int(clamping: funnel.isInApp ? dismissals.sum : dismissals.other)
        self.dismissalsIos = funnel.isInApp ? 0 : Int(clamping: dismissals.ios)
        self.displayErrors = Int(clamping: funnel.displayErrors.sum)
        self.triggered = Int(clamping: funnel.triggered.sum)
        self.suppressed = Int(clamping: funnel.suppressed.sum)
        self.nothingShown = Int(clamping: funnel.nothingShown.sum)
        self.clickRatio = funnel.clickRatio
        self.openRatio = funnel.openRatio
        guard funnel.hasSends else { return }
        let sends = funnel.sends
        self.attempted = Int(clamping: sends.attempted)
        self.sent = Int(clamping: funnel.sent.other)
        self.sentIos = Int(clamping: funnel.sent.ios)
        self.failed = Int(clamping: sends.failed)
        self.skipped = Int(clamping: funnel.skipped.sum)
        self.undelivered = Int(clamping: sends.undelivered)
        self.deliveredRate = sends.deliveredRate
        self.openRate = funnel.openRate
        self.clickThroughRate = funnel.clickThroughRate
    }
}

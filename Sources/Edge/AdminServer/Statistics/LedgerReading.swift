internal import TrackingLedger

/// What the document shows of the ledger, and when the ledger may be read again.
///
/// A reading holds the journal's queue for a reference alone, but the commit after it copies the
/// table. COST So the ledger is read only when somebody asks, and then not for another second for
/// each 10,000 rows: of a full table of 100,000 every 10 s.
struct LedgerReading {
    /// What the document shows.
    struct Figures {
        var deliveries = Statistics.Deliveries()
        var quality: [Statistics.Trouble] = []
    }

    /// The newest figures.
    private(set) var figures = Figures()
    private var isUnderWay = false
    /// Readings of the metrics, one a second, until the ledger may be read again.
    private var pause = 0

    /// The rows of the ledger that pay for a second without a reading.
    static let rowsPerSecond = 10_000

    /// Whether whoever asks now has to read the ledger, and then to call `end`.
    mutating func begin() -> Bool {
        guard !self.isUnderWay, self.pause == 0 else { return false }
        self.isUnderWay = true
        return true
    }

    /// Takes what was read of a ledger with so many rows.
    mutating func end(_ figures: Figures, rows: Int) {
        self.figures = figures
        self.isUnderWay = false
        self.pause = max(1, rows / Self.rowsPerSecond)
    }

    /// A second has passed.
    mutating func pass() { self.pause = max(0, self.pause - 1) }
}

extension LedgerReading.Figures {
    /// The number of funnels and of troubles in the document.
    private static let limit = 10
    /// A delivery is busy by its hits of so many hours.
    private static let busyHours: UInt32 = 24

    /// The figures of a ledger.
    ///
    /// - Parameter time: now, in seconds since 1970.
    init(_ ledger: Ledger, time: Double) {
        let hour = UInt32(clamping: Int64(time / 3600))
        let funnels = ledger.funnels(
            busiestSince: hour - min(hour, Self.busyHours), limit: Self.limit)
        self.deliveries = Statistics.Deliveries(
            count: funnels.count, busiest: funnels.busiest.map(Statistics.Funnel.init))
        // Sentences may show what a client sent, so the page has none.
        self.quality = ledger.troubles(limit: Self.limit).map(Statistics.Trouble.init)
    }
}

extension Statistics.Trouble {
    fileprivate init(_ trouble: DeliveryTrouble) {
        self.init(
            tenant: trouble.tenant, deliveryId: trouble.delivery, code: trouble.code,
            events: Int(clamping: trouble.events))
    }
}

extension Statistics.Funnel {
    fileprivate init(_ funnel: LedgerFunnel) {
        self.init(
            tenant: funnel.tenant, deliveryId: funnel.delivery, isInApp: funnel.isInApp,
            impressions: Int(clamping: funnel.impressions.other),
            impressionsIos: Int(clamping: funnel.impressions.ios),
            clicks: Int(clamping: funnel.clicks.other),
            clicksIos: Int(clamping: funnel.clicks.ios),
            opens: Int(clamping: funnel.opens.other), opensIos: Int(clamping: funnel.opens.ios),
            dismissals: Int(clamping: funnel.dismissals.sum),
            displayErrors: Int(clamping: funnel.displayErrors.sum),
            clickRatio: funnel.clickRatio, openRatio: funnel.openRatio)
    }
}

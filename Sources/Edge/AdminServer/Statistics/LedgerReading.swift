internal import AdminProtocol
internal import DeliveryDiagnosis
internal import TrackingJournal

/// The parts of `/stats.json` that come from the ledger, and the pause until the ledger may be read
/// again.
///
/// A reading blocks the journal's queue only while it takes a reference, but the next commit then
/// copies the table. With 100,000 rows, measured on a busy machine, the copy takes 1 to 8 ms if the
/// commit changes counts, and mostly 4 to 18 ms if it adds a row. So the ledger is read only on
/// request, and then not again for a second per 10,000 rows: a full table every 10 s. Adding up the
/// funnels of 100,000 rows took at most 0.12 s, off the journal's queue. Diagnosing the deliveries
/// took 0.25 to 0.64 s, so that happens at most every 10 s.
struct LedgerReading {
    /// The funnels of the busiest deliveries, as last read.
    private(set) var deliveries = Statistics.Deliveries()
    /// The findings on deliveries, as last read.
    private(set) var quality: [Statistics.Trouble] = []
    private var isUnderWay = false
    /// Seconds until the ledger may be read again.
    private var pause = 0
    /// Seconds until it may be read for `quality`.
    private var qualityPause = 0

    /// The part to read.
    enum Part { case deliveries, deliveriesAndQuality }

    /// Rows of the ledger per second of pause after a reading.
    private static let rowsPerSecond = 10_000
    private static let minQualityPause = 10

    /// What the caller has to read before it calls `end`; nil: nothing, and it must not call `end`.
    mutating func begin() -> Part? {
        guard !self.isUnderWay, self.pause == 0 else { return nil }
        self.isUnderWay = true
        return self.qualityPause == 0 ? .deliveriesAndQuality : .deliveries
    }

    /// Stores a reading of a ledger with this number of rows.
    ///
    /// - Parameter quality: nil if it was not read.
    mutating func end(
        _ deliveries: Statistics.Deliveries, quality: [Statistics.Trouble]?, rows: Int
    ) {
        self.isUnderWay = false
        self.pause = max(1, rows / Self.rowsPerSecond)
        self.deliveries = deliveries
        guard let quality else { return }
        self.quality = quality
        self.qualityPause = max(Self.minQualityPause, self.pause)
    }

    /// Counts down by a second.
    mutating func passSecond() {
        self.pause = max(0, self.pause - 1)
        self.qualityPause = max(0, self.qualityPause - 1)
    }
}

extension Statistics.Deliveries {
    private static let maxBusiest = 10
    private static let busyHours: UInt32 = 24

    /// The ten busiest deliveries of the last 24 hours.
    ///
    /// - Parameter time: now, in seconds since 1970.
    init(_ ledger: Ledger, time: Double) {
        let hour = UInt32(clamping: Int64(time / 3600))
        let funnels = ledger.funnels(
            busiestSince: hour - min(hour, Self.busyHours), limit: Self.maxBusiest)
        self.init(count: funnels.count, busiest: funnels.busiest.map(Statistics.Funnel.init))
    }
}

extension [Statistics.Trouble] {
    private static let maxCount = 10

    /// The findings on deliveries, without their sentences: those may quote what a client sent.
    init(_ ledger: Ledger) {
        self = ledger.troubles(limit: Self.maxCount).map(Statistics.Trouble.init)
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
        self.init(tenant: funnel.tenant, deliveryId: funnel.delivery, isInApp: funnel.isInApp)
        self.impressions = Int(clamping: funnel.impressions.other)
        self.impressionsIos = Int(clamping: funnel.impressions.ios)
        self.clicks = Int(clamping: funnel.clicks.other)
        self.clicksIos = Int(clamping: funnel.clicks.ios)
        self.opens = Int(clamping: funnel.opens.other)
        self.opensIos = Int(clamping: funnel.opens.ios)
        self.dismissals = Int(clamping: funnel.dismissals.sum)
        self.displayErrors = Int(clamping: funnel.displayErrors.sum)
        self.clickRatio = funnel.clickRatio
        self.openRatio = funnel.openRatio
    }
}

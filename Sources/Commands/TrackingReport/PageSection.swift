internal import TrackingRules

/// A section of the page: charts of the largest deliveries or messages, and a table of all. The
/// template refers to its properties by name.
struct PageSection {
    /// A chart of one delivery or message.
    struct Card {
        var heading: String
        var detail: String
        var steps: [Step]
        var ios: String?
        /// What was sent, and the rates of what was delivered; nil if no number is known.
        var rates: String?
    }

    /// A bar of a funnel.
    struct Step {
        var name: String
        var kind: String
        /// The bar's length.
        var percent: Double
        var count: String
        var ratio: String?
    }

    /// A row of the table: its cells, grouped by alignment, in this order.
    struct Row {
        var key: String
        var texts: [String] = []
        var numbers: [String] = []
        var times: [String] = []
    }

    /// The deliveries and messages that get a chart.
    private static let maxDrawn = 12

    var cards: [Card]
    /// The number of shown rows and of all rows; nil if all are shown.
    var leftOut: [String: String]?
    var rows: [Row]
    /// Whether rows have the deliveries' names.
    var hasNames = false

    /// Nil for a section without rows.
    init?<Funnel>(
        _ section: Report.Section<Funnel>, card: (Funnel) -> Card, row: (Funnel) -> Row
    ) {
        guard !section.rows.isEmpty else { return nil }
        self.cards = section.rows.prefix(Self.maxDrawn).map(card)
        self.rows = section.rows.map(row)
        guard section.leftOut > 0 else { return }
        self.leftOut = [
            "shown": ReportNumber.grouped(section.rows.count),
            "count": ReportNumber.grouped(section.count),
        ]
    }
}

extension PageSection.Step {
    /// A step whose bar is full if `count` equals `whole`.
    init(_ name: String, _ count: Int, of whole: Int, _ ratio: Double? = nil, kind: String) {
        let share = Double(count) / Double(max(whole, 1))
        self.init(
            name: name, kind: kind, percent: ReportNumber.rounded(min(max(share, 0), 1) * 100),
            count: ReportNumber.grouped(count), ratio: ratio.map(ReportNumber.percent))
    }
}

extension PageSection.Card {
    /// A delivery's chart.
    init(_ row: DeliveryFunnel) {
        let whole = max(
            row.others.sent, row.others.impressions, row.others.clicks, row.opens ?? 0)
        var steps: [PageSection.Step] = []
        if row.sent != nil {
            steps.append(
                .init("Delivered, without iOS", row.others.sent, of: whole, kind: "delivered"))
        }
        steps += [
            .init("Impressions", row.others.impressions, of: whole, kind: "impressions"),
            .init(
                "Clicks", row.others.clicks, of: whole, row.others.clickRatio, kind: "clicks"),
        ]
        if let dismissals = row.others.dismissals {
            steps.append(
                .init(
                    "of these dismissals", dismissals, of: whole, row.others.dismissalRatio,
                    kind: "dismissals"))
        }
        if let opens = row.opens {
            steps.append(.init("Opens", opens, of: whole, row.openRatio, kind: "opens"))
        }
        let ios = [
            ("delivered", row.sent == nil ? nil : row.ios.sent),
            ("impressions", row.ios.impressions), ("clicks", row.ios.clicks),
            ("dismissals", row.ios.dismissals), ("opens", row.iosOpens),
        ].compactMap { name, count in count.map { "\(name) \(ReportNumber.grouped($0))" } }
        self.init(
            heading: row.name ?? row.deliveryID,
            detail: [
                place(row.tenant, row.app), row.name == nil ? nil : row.deliveryID,
                row.product?.name,
                row.delivered.map { "\(ReportNumber.grouped($0)) delivered" },
            ].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ", "),
            steps: steps, ios: ios.joined(separator: ", "), rates: Self.rates(of: row))
    }

    private static func rates(of row: DeliveryFunnel) -> String? {
        guard row.delivered != nil else { return nil }
        let counts = [
            ("attempted", row.attempted), ("undelivered", row.undelivered),
            ("failed", row.failed), ("skipped", row.skipped),
        ].compactMap { name, count in count.map { "\(name) \(ReportNumber.grouped($0))" } }
        let rates = [
            ("delivered rate", row.deliveredRate), ("open rate", row.openRate),
            ("click-through rate", row.clickThroughRate),
        ].compactMap { name, rate in rate.map { "\(name) \(ReportNumber.percent($0))" } }
        let figures = (counts + rates).joined(separator: ", ")
        return figures.isEmpty ? nil : "All platforms: \(figures)"
    }

    /// A message's chart.
    init(_ row: InAppFunnel) {
        let whole = max(row.impressions, row.clicks, row.dismissals, row.displayErrors)
        self.init(
            heading: row.campaign ?? row.messageID,
            detail: "\(place(row.tenant, row.app)), \(row.messageID)",
            steps: [
                .init("Impressions", row.impressions, of: whole, kind: "impressions"),
                .init("Clicks", row.clicks, of: whole, row.clickRatio, kind: "clicks"),
                .init(
                    "Dismissals", row.dismissals, of: whole, row.dismissalRatio,
                    kind: "dismissals"),
                .init("Display errors", row.displayErrors, of: whole, kind: "errors"),
            ])
    }
}

extension PageSection.Row {
    /// A delivery's figures.
    ///
    /// - Parameter hasNames: whether it has a cell for its name.
    init(_ row: DeliveryFunnel, hasNames: Bool, in zone: ReportZone) {
        let (others, ios) = (row.others, row.ios)
        let uniqueOpens = row.opens == nil ? nil : others.uniqueOpens
        let counts = [
            others.notifications, others.impressions, others.clicks, others.uniqueClicks,
            others.dismissals, others.uniqueDismissals, row.opens, uniqueOpens,
        ]
        let ratios = [
            others.impressionRatio, others.clickRatio, others.dismissalRatio, row.openRatio,
        ]
        let sends = [
            row.attempted, row.delivered, row.undelivered, row.failed, row.skipped,
        ].map(cell)
        let rates = [
            row.deliveredRate, row.reachRatio, others.impressionsOfDelivered,
            ios.impressionsOfDelivered, row.openRate, row.clickThroughRate,
        ].map(cell)
        let buttons = [row.button1, row.button2].map(ReportNumber.grouped).joined(separator: ", ")
        self.init(
            key: row.deliveryID,
            texts: (hasNames ? [row.name ?? "–"] : [])
                + [place(row.tenant, row.app), row.product?.name ?? "–"],
            numbers: sends + rates + counts.map(cell) + ratios.map(cell)
                + [ios.impressions, ios.clicks, ios.dismissals, row.iosOpens].map(cell)
                + [buttons, cell(row.closes)],
            times: [row.firstReceived, row.lastReceived].map {
                $0.map { ReportTime.plain($0, in: zone) } ?? "–"
            })
    }

    /// A message's figures.
    init(_ row: InAppFunnel, in zone: ReportZone) {
        let counts = [
            row.recipients, row.impressions, row.clicks, row.dismissals, row.displayErrors,
            row.triggered, row.suppressed,
        ]
        self.init(
            key: row.messageID, texts: [row.campaign ?? "–", place(row.tenant, row.app)],
            numbers: counts.map(cell)
                + [row.clickRatio, row.dismissalRatio].map(cell),
            times: [row.firstReceived, row.lastReceived].map { ReportTime.plain($0, in: zone) })
    }
}

/// A count; a dash for nil.
private func cell(_ count: Int?) -> String { count.map(ReportNumber.grouped) ?? "–" }

/// A ratio in percent; a dash for nil.
private func cell(_ ratio: Double?) -> String { ratio.map(ReportNumber.percent) ?? "–" }

/// The tenant and the app.
private func place(_ tenant: String, _ app: String?) -> String {
    [tenant, app].compactMap(\.self).joined(separator: ", ")
}

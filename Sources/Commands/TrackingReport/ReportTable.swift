internal import DeliveryDiagnosis
internal import TrackingRules

/// A report for terminals: a table per section, with a bar for each ratio.
package struct ReportTable: Sendable {
    /// The width of a full bar, in characters.
    private static let barWidth = 10
    /// Characters for one to eight eighths of a cell.
    private static let eighths = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    private let report: Report

    /// Creates the table of a report.
    package init(_ report: Report) { self.report = report }

    /// The lines, without colours. An empty section has no table.
    package func lines() -> [String] {
        var lines: [String] = []
        if !self.report.deliveries.rows.isEmpty {
            lines += ["Push notifications by delivery, \(self.report.range)", ""]
            lines += self.deliveries() + Self.leftOut(self.report.deliveries)
            lines += [
                "", "Clicks are openings and dismissals together. Ratios are per notification",
                "shown, without iOS, which does not report every impression. Classic counts",
                "neither opens nor dismissals.",
            ]
            lines += self.sends()
        }
        if !self.report.inAppMessages.rows.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += ["In-app messages, \(self.report.range)", ""]
            lines += self.messages() + Self.leftOut(self.report.inAppMessages)
        }
        if let quality = self.report.quality, !quality.isEmpty {
            if !lines.isEmpty { lines.append("") }
            lines += ["Data quality, by the server's ledger (`sightline why DELIVERY`)", ""]
            lines += Self.quality(quality)
        }
        if !lines.isEmpty, !self.report.notes.isEmpty { lines += [""] + self.report.notes }
        return lines
    }

    private static func quality(_ troubles: [DeliveryTrouble]) -> [String] {
        var table = TextTable([
            ("tenant", .left), ("delivery", .left), ("events", .right), ("what is wrong", .left),
        ])
        for trouble in troubles {
            table.add([
                trouble.tenant, trouble.delivery, "\(trouble.events)",
                "\(trouble.code)  \(trouble.sentence)",
            ])
        }
        return table.lines()
    }

    private func deliveries() -> [String] {
        let isByApp = self.report.query.isByApp
        let hasNames = self.report.hasNames
        var table = TextTable(
            [("tenant", .left)] + (isByApp ? [("app", .left)] : []) + [("delivery", .left)]
                + (hasNames ? [("name", .left), ("delivered", .right), ("reach", .left)] : [])
                + [
                    ("product", .left), ("impressions", .right),
                    ("clicks", .right), ("dismissals", .right), ("opens", .right),
                    ("clicked of shown", .left), ("dismissed of shown", .left),
                    ("opened of shown", .left),
                    ("iOS impressions", .right), ("clicks", .right), ("dismissals", .right),
                    ("opens", .right),
                ])
        for row in self.report.deliveries.rows {
            table.add(
                [row.tenant.isEmpty ? "-" : row.tenant] + (isByApp ? [row.app ?? "-"] : [])
                    + [row.deliveryID]
                    + (hasNames ? Self.named(row) : []) + [
                        row.product?.name ?? "-", "\(row.others.impressions)",
                        "\(row.others.clicks)", Self.count(row.others.dismissals),
                        Self.count(row.opens), Self.bar(row.others.clickRatio),
                        Self.bar(row.others.dismissalRatio), Self.bar(row.openRatio),
                        "\(row.ios.impressions)", "\(row.ios.clicks)",
                        Self.count(row.ios.dismissals), Self.count(row.iosOpens),
                    ])
        }
        return table.lines()
    }

    /// What was sent, and the rates per delivered notification; nothing if no number is known.
    private func sends() -> [String] {
        let rows = self.report.deliveries.rows
        guard rows.contains(where: { $0.delivered != nil }) else { return [] }
        let isByApp = self.report.query.isByApp
        var table = TextTable(
            [("tenant", .left)] + (isByApp ? [("app", .left)] : []) + [
                ("delivery", .left), ("product", .left), ("attempted", .right),
                ("delivered", .right), ("delivered rate", .left), ("undelivered", .right),
                ("failed", .right), ("skipped", .right), ("impressions of delivered", .left),
                ("on iOS", .left), ("open rate", .left), ("click-through rate", .left),
            ])
        for row in rows {
            table.add(
                [row.tenant.isEmpty ? "-" : row.tenant] + (isByApp ? [row.app ?? "-"] : []) + [
                    row.deliveryID, row.product?.name ?? "-", Self.count(row.attempted),
                    Self.count(row.delivered), Self.bar(row.deliveredRate),
                    Self.count(row.undelivered), Self.count(row.failed), Self.count(row.skipped),
                    Self.bar(row.others.impressionsOfDelivered),
                    Self.bar(row.ios.impressionsOfDelivered), Self.bar(row.openRate),
                    Self.bar(row.clickThroughRate),
                ])
        }
        return ["", "What was sent, and rates of what was delivered", ""] + table.lines() + [
            "", "Rates are per delivered notification, with the opens and clicks of all platforms",
            "as in Adobe Campaign. Undelivered are those that no push service took; failed those",
            "with a failed attempt, also if a later one succeeded.",
        ]
    }

    private static func named(_ row: DeliveryFunnel) -> [String] {
        [row.name ?? "-", self.count(row.delivered), self.bar(row.reachRatio)]
    }

    private func messages() -> [String] {
        let isByApp = self.report.query.isByApp
        var table = TextTable(
            [("tenant", .left)] + (isByApp ? [("app", .left)] : []) + [
                ("campaign", .left), ("message", .left), ("impressions", .right),
                ("clicks", .right), ("dismissals", .right), ("errors", .right),
                ("triggered", .right), ("suppressed", .right),
                ("click-through", .left), ("dismissal rate", .left),
            ])
        for row in self.report.inAppMessages.rows {
            table.add(
                [row.tenant] + (isByApp ? [row.app ?? "-"] : []) + [
                    row.campaign ?? "-", row.messageID, "\(row.impressions)", "\(row.clicks)",
                    "\(row.dismissals)", "\(row.displayErrors)", "\(row.triggered)",
                    "\(row.suppressed)", Self.bar(row.clickRatio), Self.bar(row.dismissalRatio),
                ])
        }
        return table.lines()
    }

    private static func count(_ count: Int?) -> String { count.map { "\($0)" } ?? "-" }

    private static func leftOut<Row>(_ section: Report.Section<Row>) -> [String] {
        guard section.leftOut > 0 else { return [] }
        return ["… and \(section.leftOut) more; --limit shows them"]
    }

    /// A bar with its number; ratios above 1 fill the bar.
    static func bar(_ ratio: Double?) -> String {
        guard let ratio else { return "-" }
        let parts = Int((min(ratio, 1) * Double(self.barWidth * 8)).rounded())
        let whole = String(repeating: "█", count: parts / 8)
        let bar = whole + (parts % 8 > 0 ? self.eighths[parts % 8 - 1] : "")
        let blanks = String(repeating: "░", count: self.barWidth - bar.count)
        return "\(bar)\(blanks) \(ReportNumber.percent(ratio))"
    }
}

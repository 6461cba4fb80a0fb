internal import TrackingRules

/// A report as CSV (RFC 4180): one table for both sections.
package struct ReportSheet: Sendable {
    private static let heading = [
        "section", "tenant", "app", "product", "id", "campaign", "notifications", "impressions",
        "unique_impressions", "clicks", "unique_clicks", "opens", "unique_opens",
        "ios_notifications", "ios_impressions", "ios_unique_impressions", "ios_clicks",
        "ios_unique_clicks", "ios_opens", "ios_unique_opens", "button_1", "button_2", "closes",
        "recipients", "dismissals", "display_errors", "impression_ratio", "click_ratio",
        "open_ratio", "dismissal_ratio", "first_received", "last_received", "name", "delivered",
        "reach_ratio", "unique_dismissals", "ios_dismissals", "ios_unique_dismissals",
        "attempted", "sent", "failed", "skipped", "undelivered", "ios_attempted", "ios_sent",
        "ios_failed", "ios_skipped", "ios_undelivered", "delivered_rate",
        "impressions_of_delivered", "ios_impressions_of_delivered", "open_rate",
        "click_through_rate",
        "nothing_shown", "ios_nothing_shown", "triggered", "suppressed",
    ]

    private let report: Report

    /// Creates the sheet of a report.
    package init(_ report: Report) { self.report = report }

    /// The lines, heading first; the caller ends each with CRLF. Cells that do not apply are empty.
    package func lines() -> [String] {
        let rows =
            self.report.deliveries.rows.map(Self.cells)
            + self.report.inAppMessages.rows.map(Self.cells)
        return [Self.heading.joined(separator: ",")]
            + rows.map { cells in
                Self.heading.map { cells[$0] ?? "" }.joined(separator: ",")
            }
    }

    private static func cells(_ row: DeliveryFunnel) -> [String: String] {
        var cells = [
            "section": "push", "tenant": self.text(row.tenant), "app": self.text(row.app),
            "product": row.product?.name ?? "", "id": self.text(row.deliveryID),
            "button_1": "\(row.button1)", "button_2": "\(row.button2)", "closes": "\(row.closes)",
            "impression_ratio": self.number(row.others.impressionRatio),
            "click_ratio": self.number(row.others.clickRatio),
            "open_ratio": self.number(row.openRatio),
            "dismissal_ratio": self.number(row.others.dismissalRatio),
            "first_received": row.firstReceived.map(ReportTime.utc) ?? "",
            "last_received": row.lastReceived.map(ReportTime.utc) ?? "",
            "name": self.text(row.name),
            "delivered": self.count(row.delivered),
            "reach_ratio": self.number(row.reachRatio),
            "delivered_rate": self.number(row.deliveredRate),
            "impressions_of_delivered": self.number(row.others.impressionsOfDelivered),
            "ios_impressions_of_delivered": self.number(row.ios.impressionsOfDelivered),
            "open_rate": self.number(row.openRate),
            "click_through_rate": self.number(row.clickThroughRate),
        ]
        let hasOpens = row.product == .standard
        for (prefix, counts) in [("", row.others), ("ios_", row.ios)] {
            cells[prefix + "notifications"] = "\(counts.notifications)"
            cells[prefix + "impressions"] = "\(counts.impressions)"
            cells[prefix + "unique_impressions"] = "\(counts.uniqueImpressions)"
            cells[prefix + "clicks"] = "\(counts.clicks)"
            cells[prefix + "unique_clicks"] = "\(counts.uniqueClicks)"
            cells[prefix + "opens"] = hasOpens ? "\(counts.opens)" : ""
            cells[prefix + "unique_opens"] = hasOpens ? "\(counts.uniqueOpens)" : ""
            cells[prefix + "dismissals"] = self.count(counts.dismissals)
            cells[prefix + "unique_dismissals"] = self.count(counts.uniqueDismissals)
            cells[prefix + "nothing_shown"] = "\(counts.nothingShown)"
            guard row.sent != nil else { continue }
            cells.merge(self.sends(counts, prefix: prefix)) { $1 }
        }
        return cells
    }

    private static func sends(_ counts: FunnelCounts, prefix: String) -> [String: String] {
        [
            prefix + "attempted": "\(counts.attempted)", prefix + "sent": "\(counts.sent)",
            prefix + "failed": "\(counts.failed)", prefix + "skipped": "\(counts.skipped)",
            prefix + "undelivered": "\(counts.undelivered)",
        ]
    }

    private static func cells(_ row: InAppFunnel) -> [String: String] {
        [
            "section": "in_app", "tenant": self.text(row.tenant), "app": self.text(row.app),
            "product": "firebase", "id": self.text(row.messageID),
            "campaign": self.text(row.campaign), "impressions": "\(row.impressions)",
            "clicks": "\(row.clicks)", "recipients": "\(row.recipients)",
            "dismissals": "\(row.dismissals)", "display_errors": "\(row.displayErrors)",
            "triggered": "\(row.triggered)", "suppressed": "\(row.suppressed)",
            "click_ratio": self.number(row.clickRatio),
            "dismissal_ratio": self.number(row.dismissalRatio),
            "first_received": ReportTime.utc(row.firstReceived),
            "last_received": ReportTime.utc(row.lastReceived),
        ]
    }

    private static func count(_ count: Int?) -> String { count.map { "\($0)" } ?? "" }

    private static func number(_ ratio: Double?) -> String {
        ratio.map { "\(ReportNumber.rounded($0))" } ?? ""
    }

    /// Quotes text if necessary, and prefixes an apostrophe to what a spreadsheet would evaluate as
    /// a formula. It goes by scalars: a quote with an accent is one character, and a quote to every
    /// reader of CSV.
    package static func text(_ text: String?) -> String {
        guard let text, let first = text.unicodeScalars.first else { return "" }
        let isFormula = "=+-@\t\r\n".unicodeScalars.contains(first)
        let safe = isFormula ? "'" + text : text
        let isPlain = safe.unicodeScalars.allSatisfy { !",\"\r\n".unicodeScalars.contains($0) }
        guard !isPlain else { return safe }
        let doubled = safe.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined()
        return "\"" + doubled + "\""
    }
}

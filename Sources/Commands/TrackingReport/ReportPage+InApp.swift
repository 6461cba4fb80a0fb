extension ReportPage {
    /// The section of in-app messages: charts of the largest, and a table of all.
    var messages: HTML {
        let section = self.report.inAppMessages
        guard !section.rows.isEmpty else { return "" }
        let cards = section.rows.prefix(Self.maxDrawn).map(self.card)
        return """
            <section aria-labelledby="messages">
            <h2 id="messages">In-app messages</h2>
            <p>Ratios are per impression; a click that leads nowhere is a dismissal.</p>
            <div class="cards">
            \(cards)
            </div>
            \(Self.shown(section, "in-app messages"))
            \(self.messageTable)
            </section>
            """
    }

    private func card(_ row: InAppFunnel) -> HTML {
        let whole = Double(
            max(row.impressions, row.clicks, row.dismissals, row.displayErrors, 1))
        func step(_ name: String, _ count: Int, _ ratio: Double?, _ kind: String) -> HTML {
            Self.bar(name, count, share: Double(count) / whole, ratio: ratio, kind: kind)
        }
        let steps = [
            step("Impressions", row.impressions, nil, "impressions"),
            step("Clicks", row.clicks, row.clickRatio, "clicks"),
            step("Dismissals", row.dismissals, row.dismissalRatio, "dismissals"),
            step("Display errors", row.displayErrors, nil, "errors"),
        ]
        return """
            <article>
            <h3>\(row.campaign ?? row.messageID) <small>\(self.place(row.tenant, row.app)), \
            \(row.messageID)</small></h3>
            <ol class="steps">
            \(steps)
            </ol>
            </article>
            """
    }

    private var messageTable: HTML {
        let heading = [
            "Message", "Campaign", "Tenant", "Recipients", "Impressions", "Clicks", "Dismissals",
            "Display errors", "Click ratio", "Dismissal ratio", "First received", "Last received",
        ].map(Self.heading)
        let rows = self.report.inAppMessages.rows.map { row -> HTML in
            """
            <tr><th scope="row">\(row.messageID)</th><td>\(row.campaign ?? "–")</td>\
            <td>\(self.place(row.tenant, row.app))</td>\(Self.cell(row.recipients))\
            \(Self.cell(row.impressions))\(Self.cell(row.clicks))\(Self.cell(row.dismissals))\
            \(Self.cell(row.displayErrors))\(Self.cell(row.clickRatio))\
            \(Self.cell(row.dismissalRatio))\(Self.cell(time: row.firstReceived))\
            \(Self.cell(time: row.lastReceived))</tr>
            """
        }
        return Self.table("All figures of the in-app messages", heading: heading, rows: rows)
    }
}

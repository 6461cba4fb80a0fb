extension ReportPage {
    /// The section of push deliveries: charts of the largest, and a table of all.
    var deliveries: HTML {
        let section = self.report.deliveries
        guard !section.rows.isEmpty else { return "" }
        let cards = section.rows.prefix(Self.maxDrawn).map(self.card)
        return """
            <section aria-labelledby="deliveries">
            <h2 id="deliveries">Push notifications by delivery</h2>
            <p>Ratios are per notification shown. iOS stands apart and out of the ratios, since it
            does not report every impression; Campaign Classic counts no opens.</p>
            <div class="cards">
            \(cards)
            </div>
            \(Self.shown(section, "deliveries"))
            \(self.deliveryTable)
            </section>
            """
    }

    private func card(_ row: DeliveryFunnel) -> HTML {
        let whole = Double(max(row.others.impressions, row.others.clicks, row.opens ?? 0, 1))
        func step(_ name: String, _ count: Int, _ ratio: Double?, _ kind: String) -> HTML {
            Self.bar(name, count, share: Double(count) / whole, ratio: ratio, kind: kind)
        }
        var steps = [
            step("Impressions", row.others.impressions, nil, "impressions"),
            step("Clicks", row.others.clicks, row.others.clickRatio, "clicks"),
        ]
        if let opens = row.opens { steps.append(step("Opens", opens, row.openRatio, "opens")) }
        let iosOpens: HTML = row.iosOpens.map { ", opens \($0)" } ?? ""
        return """
            <article>
            <h3>\(row.deliveryID) <small>\(self.place(row.tenant, row.app)), \("\(row.product)")\
            </small></h3>
            <ol class="steps">
            \(steps)
            </ol>
            <p class="ios">iOS: impressions \(row.ios.impressions), clicks \(row.ios.clicks)\
            \(iosOpens)</p>
            </article>
            """
    }

    private var deliveryTable: HTML {
        let heading = [
            "Delivery", "Tenant", "Product", "Notifications", "Impressions", "Clicks",
            "Unique clicks", "Opens", "Unique opens", "Impression ratio", "Click ratio",
            "Open ratio", "iOS impressions", "iOS clicks", "iOS opens", "Buttons 1, 2", "Closed",
            "First received", "Last received",
        ].map(Self.heading)
        let rows = self.report.deliveries.rows.map { row -> HTML in
            """
            <tr><th scope="row">\(row.deliveryID)</th><td>\(self.place(row.tenant, row.app))</td>\
            <td>\("\(row.product)")</td>\(self.counts(row))\
            \(Self.cell(row.others.impressionRatio))\(Self.cell(row.others.clickRatio))\
            \(Self.cell(row.openRatio))\(Self.cell(row.ios.impressions))\
            \(Self.cell(row.ios.clicks))\(Self.cell(row.iosOpens))\
            <td class="number">\(row.button1), \(row.button2)</td>\(Self.cell(row.closes))\
            \(Self.cell(time: row.firstReceived))\(Self.cell(time: row.lastReceived))</tr>
            """
        }
        return Self.table("All figures of the deliveries", heading: heading, rows: rows)
    }

    private func counts(_ row: DeliveryFunnel) -> HTML {
        let uniqueOpens = row.opens == nil ? nil : row.others.uniqueOpens
        return """
            \(Self.cell(row.others.notifications))\(Self.cell(row.others.impressions))\
            \(Self.cell(row.others.clicks))\(Self.cell(row.others.uniqueClicks))\
            \(Self.cell(row.opens))\(Self.cell(uniqueOpens))
            """
    }

    /// The tenant and the app.
    func place(_ tenant: String, _ app: String?) -> String {
        [tenant, app].compactMap(\.self).joined(separator: ", ")
    }
}

/// A report as a single HTML file: no scripts, no external resources, light and dark themes.
package struct ReportPage: Sendable {
    /// The deliveries and messages that get a chart; tables list all rows.
    static let maxDrawn = 12

    let report: Report
    let timeline: Timeline?
    let generated: Int64

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - timeline: the timeline of the same query; nil without hits.
    ///   - generated: when the report was created, in microseconds since 1970.
    package init(_ report: Report, timeline: Timeline?, generated: Int64) {
        self.report = report
        self.timeline = timeline
        self.generated = generated
    }

    /// The document. Its Content-Security-Policy forbids loading and running anything.
    package var text: String {
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy"
              content="default-src 'none'; style-src 'unsafe-inline'">
            <title>Sightline report</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <header>
            <h1>Sightline report</h1>
            <p>\(self.scope). Made \(ReportTime.utc(self.generated)); all times are UTC.</p>
            </header>
            <main>
            \(self.tiles)
            \(self.timelineFigure)
            \(self.deliveries)
            \(self.messages)
            \(self.quality)
            </main>
            </body>
            </html>

            """
        return page.source
    }

    private var scope: String {
        let query = self.report.query
        let filters = [
            query.tenant.map { "tenant \($0)" }, query.app.map { "app \($0)" },
            query.delivery.map { "delivery \($0)" },
        ].compactMap(\.self)
        return ([self.report.range.capitalizedFirst] + filters).joined(separator: ", ")
    }

    private var tiles: HTML {
        let tiles = [
            ("Deliveries", self.report.deliveries.count),
            ("Hits of deliveries", self.report.deliveries.hits),
            ("In-app messages", self.report.inAppMessages.count),
            ("Hits of in-app messages", self.report.inAppMessages.hits),
        ].map { name, count -> HTML in "<div><dt>\(name)</dt><dd>\(count)</dd></div>" }
        return "<dl class=\"tiles\">\n\(tiles)\n</dl>"
    }

    /// "N of M" for a section with omitted rows.
    static func shown<Row>(_ section: Report.Section<Row>, _ noun: String) -> HTML {
        section.leftOut > 0
            ? "<p>The \(section.rows.count) largest of \(section.count) \(noun).</p>" : ""
    }

    /// A bar of a funnel: its name, its length (`share` 1 is full) and its numbers.
    static func bar(
        _ name: String, _ count: Int, share: Double, ratio: Double?, kind: String
    ) -> HTML {
        let width = ReportNumber.rounded(min(max(share, 0), 1) * 100)
        let percent: HTML = ratio.map { "<small>\(ReportNumber.percent($0))</small>" } ?? ""
        return """
            <li><span>\(name)</span>\
            <span class="track"><span class="\(kind)" style="width:\("\(width)")%"></span></span>\
            <span class="number">\(count) \(percent)</span></li>
            """
    }

    /// A table that scrolls on its own if it is wider than the page.
    static func table(_ caption: String, heading: [HTML], rows: [HTML]) -> HTML {
        """
        <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
        <table>
        <caption>\(caption)</caption>
        <thead><tr>\(heading)</tr></thead>
        <tbody>
        \(rows)
        </tbody>
        </table>
        </div>
        """
    }

    static func heading(_ title: String) -> HTML { "<th scope=\"col\">\(title)</th>" }

    static func cell(_ count: Int?) -> HTML {
        guard let count else { return "<td class=\"number\">–</td>" }
        return "<td class=\"number\">\(count)</td>"
    }

    static func cell(_ ratio: Double?) -> HTML {
        "<td class=\"number\">\(ratio.map(ReportNumber.percent) ?? "–")</td>"
    }

    static func cell(time: Int64) -> HTML {
        "<td class=\"time\">\(ReportTime.plain(time))</td>"
    }
}

extension String {
    fileprivate var capitalizedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}

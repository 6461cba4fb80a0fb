internal import DeliveryDiagnosis
internal import Mustache

/// A report as a single HTML file: no scripts, no external resources, light and dark themes.
package struct ReportPage: Sendable {
    private let report: Report
    private let timeline: Timeline?
    private let generated: Int64

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

    /// The document: `page.mustache` with the report's figures.
    ///
    /// - Throws: the parser's error, which only a malformed template can cause.
    package func text() throws -> String {
        MustacheContentTypes.register(PageText(), named: "PAGE")
        let source = String(decoding: PackageResources.page_mustache, as: UTF8.self)
        return try MustacheTemplate(string: source).render(self.contents)
    }

    /// The template's values by name.
    private var contents: [String: Any] {
        var contents: [String: Any] = [
            "scope": self.scope, "zone": self.report.query.zone.name,
            "made": ReportTime.text(self.generated, in: self.report.query.zone),
            "tiles": self.tiles,
        ]
        contents["timeline"] = self.timeline.map(PagePlot.init)
        let (hasNames, zone) = (self.report.hasNames, self.report.query.zone)
        var deliveries = PageSection(
            self.report.deliveries, card: PageSection.Card.init,
            row: { PageSection.Row($0, hasNames: hasNames, in: zone) })
        deliveries?.hasNames = hasNames
        contents["deliveries"] = deliveries
        contents["messages"] = PageSection(
            self.report.inAppMessages, card: PageSection.Card.init,
            row: { PageSection.Row($0, in: zone) })
        contents["details"] = self.report.detailTables.enumerated().map { number, table in
            PageTable(table, id: "details-\(number + 1)")
        }
        if let troubles = self.report.quality, !troubles.isEmpty {
            contents["quality"] = ["rows": troubles.map(Self.row)]
        }
        return contents
    }

    private var scope: String {
        let query = self.report.query
        let filters = [
            query.tenant.map { "tenant \($0)" }, query.app.map { "app \($0)" },
            query.delivery.map { "delivery \($0)" },
        ].compactMap(\.self)
        let range = self.report.range
        let scope = ([range.prefix(1).uppercased() + range.dropFirst()] + filters)
            .joined(separator: ", ")
        return ([scope] + self.report.notes).joined(separator: "; ")
    }

    private var tiles: [[String: String]] {
        [
            ("Deliveries", self.report.deliveries.count),
            ("Hits of deliveries", self.report.deliveries.hits),
            ("In-app messages", self.report.inAppMessages.count),
            ("Hits of in-app messages", self.report.inAppMessages.hits),
        ].map { ["name": $0, "count": ReportNumber.grouped($1)] }
    }

    private static func row(_ trouble: DeliveryTrouble) -> [String: String] {
        [
            "delivery": trouble.delivery, "tenant": trouble.tenant, "code": trouble.code,
            "events": ReportNumber.grouped(Int(clamping: trouble.events)),
            "sentence": trouble.sentence,
        ]
    }
}

internal import DeliveryDiagnosis

extension ReportPage {
    /// The section of data quality: what is wrong with deliveries.
    var quality: HTML {
        guard let troubles = self.report.quality, !troubles.isEmpty else { return "" }
        let heading = ["Delivery", "Tenant", "Events", "Code", "What is wrong"].map(Self.heading)
        let rows = troubles.map { trouble -> HTML in
            """
            <tr><th scope="row">\(trouble.delivery)</th><td>\(trouble.tenant)</td>\
            \(Self.cell(Int(clamping: trouble.events)))<td>\(trouble.code)</td>\
            <td>\(trouble.sentence)</td></tr>
            """
        }
        return """
            <section aria-labelledby="quality">
            <h2 id="quality">Data quality</h2>
            <p>By the server's ledger, for as long as it is kept.</p>
            \(Self.table("What is wrong with deliveries", heading: heading, rows: rows))
            </section>
            """
    }
}

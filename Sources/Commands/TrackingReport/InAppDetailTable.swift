/// The details of in-app messages for terminals.
enum InAppDetailTable {
    static func lines(_ rows: [InAppDetail]) -> [String] {
        var table = TextTable([
            ("tenant", .left), ("message", .left), ("what", .left), ("action", .left),
            ("link", .left), ("closed by", .left), ("error", .left), ("trigger", .left),
            ("hits", .right),
        ])
        for row in rows {
            let use = row.use
            let cells = [use?.action, use?.link, use?.dismissal, use?.error, use?.trigger]
            table.add(
                [row.tenant, row.messageID, use?.what ?? "others"]
                    + cells.map { $0.flatMap { $0.isEmpty ? nil : $0 } ?? "-" } + ["\(row.hits)"])
        }
        return table.lines()
    }
}

/// The details of notifications or in-app messages for people.
enum UseDetailTable {
    static func table(_ rows: [UseDetail], of subject: UseDetails.Subject) -> DetailTable {
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            ("tenant", .left), (subject == .push ? "delivery" : "message", .left), ("what", .left),
        ]
        for title in Self.titles(of: subject) { columns.append((title, .left)) }
        columns.append(("hits", .right))
        let name = subject == .push ? "Push notifications" : "In-app messages"
        return DetailTable(
            title: "\(name) by use", columns: columns,
            rows: rows.map { row in
                [row.tenant, row.id, row.use?.what ?? "others"]
                    + Self.cells(of: row.use, subject).map { $0.isEmpty ? "-" : $0 }
                    + ["\(row.hits)"]
            })
    }

    private static func titles(of subject: UseDetails.Subject) -> [String] {
        switch subject {
        case .push: ["button", "link", "source"]
        case .inApp:
            ["action", "link", "closed by", "error", "trigger", "triggered by", "layout"]
        }
    }

    private static func cells(of use: UseDetail.Use?, _ subject: UseDetails.Subject) -> [String] {
        let count = Self.titles(of: subject).count
        guard let use else { return Array(repeating: "", count: count) }
        return switch subject {
        case .push: [use.action, use.link, use.source]
        case .inApp:
            [
                use.action, use.link, use.dismissal, use.error, use.trigger, use.triggerKind,
                use.layout,
            ]
        }
    }
}

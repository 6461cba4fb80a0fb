internal import Foundation
internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// The positions of the columns of a `DeliveryTotalsTable`.
struct DeliveryTotalsColumns {
    private let id: Int
    private let name: Int?
    private let product: Int?
    private let sentAt: Int?
    private let platform: Int?
    private let sent: Int?
    private let delivered: Int?
    private let failed: Int?

    init(_ heading: [String]) throws(DeliveryNamesError) {
        let names = heading.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        guard let id = names.firstIndex(of: "id") else {
            throw DeliveryNamesError(
                line: 1,
                reason:
                    "no column is named id: it is \(names.joined(separator: ",").printable); begin "
                    + "the file with id,name,delivered")
        }
        self.id = id
        self.name = names.firstIndex(of: "name")
        self.product = names.firstIndex(of: "product")
        self.sentAt = names.firstIndex(of: "sent_at")
        self.platform = names.firstIndex(of: "platform")
        self.sent = names.firstIndex(of: "sent")
        self.delivered = names.firstIndex(of: "delivered")
        self.failed = names.firstIndex(of: "failed")
    }

    /// What a row says.
    ///
    /// - Throws: `DeliveryNamesError` for a row without an id, or for a cell that is none of its
    ///   column.
    func row(of row: CSVReader.Row) throws(DeliveryNamesError) -> DeliveryTotalsTable.Row {
        let cells = Cells(row: row)
        guard let id = cells.text(self.id) else {
            throw DeliveryNamesError(line: row.line, reason: "the id is missing")
        }
        var totals = DeliveryTotals(delivery: id)
        totals.name = cells.text(self.name)
        totals.product = try cells.value(
            self.product, "product", "no product; write standard or classic"
        ) { text in [Product.standard, .classic].first { $0.name == text.lowercased() } }
        totals.sentTime = try cells.value(
            self.sentAt, "sent_at", "no time; write 2026-11-20 or 2026-11-20T10:00:00Z",
            ReportTime.absolute)
        let platform = try cells.value(
            self.platform, "platform", "no platform; write android or ios, or nothing for all"
        ) { text in Platform.allCases.first { $0.name == text.lowercased() } }
        let figures = DeliveryTotals.OfPlatform(
            platform: platform, sent: try cells.count(self.sent, "sent"),
            delivered: try cells.count(self.delivered, "delivered"),
            failed: try cells.count(self.failed, "failed"))
        if figures != DeliveryTotals.OfPlatform(platform: platform) { totals.platforms = [figures] }
        return DeliveryTotalsTable.Row(line: row.line, totals: totals, platform: platform)
    }
}

/// The cells of a row.
private struct Cells {
    let row: CSVReader.Row

    /// A cell without the blanks around it; nil for an empty one.
    func text(_ column: Int?) -> String? {
        guard let column, column < self.row.cells.count else { return nil }
        let text = self.row.cells[column].trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? nil : text
    }

    func count(_ column: Int?, _ name: String) throws(DeliveryNamesError) -> Int? {
        try self.value(column, name, "no count; write digits alone") { text in
            Int(text).flatMap { (0...DeliveryTotals.maxCount).contains($0) ? $0 : nil }
        }
    }

    /// The value of a cell; nil for an empty one.
    func value<Value>(
        _ column: Int?, _ name: String, _ fault: String, _ read: (String) -> Value?
    ) throws(DeliveryNamesError) -> Value? {
        guard let text = self.text(column) else { return nil }
        guard let value = read(text) else {
            throw DeliveryNamesError(
                line: self.row.line, reason: "\(name) is \"\(text.printable)\", which is \(fault)")
        }
        return value
    }
}

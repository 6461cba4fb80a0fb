internal import Foundation
package import GRDB
internal import TrackingRules
internal import WireFormat

/// In-app messages by action, link, dismissal, error and trigger. It reads the hits themselves, so
/// its time grows with their number, and it does not include deleted ones.
package struct InAppDetails: Sendable, Equatable {
    /// The maximum number of different uses, since a client may send any label and link. Further
    /// ones are summed in one row per message.
    package static let maxUses = 10_000

    /// The rows by message; those of one message by frequency, highest first.
    package let rows: [InAppDetail]

    private struct Key: Hashable {
        let tenant: Int64
        let message: Int64
        let use: InAppDetail.Use?
    }

    /// Reads the hits of in-app messages that match a query.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init(_ query: ReportQuery, in database: Database, maxUses: Int = Self.maxUses) throws {
        let query = query.whole(by: try query.steps(in: database))
        var counts: [Key: Int] = [:]
        let cursor = try Row.fetchCursor(
            database, sql: Self.selection(query), arguments: query.arguments)
        while let row = try cursor.next() {
            let tenant = try row.decode(Int64.self, forColumn: "tenant")
            let message = try row.decode(Int64.self, forColumn: "delivery")
            var key = Key(tenant: tenant, message: message, use: try Self.use(row))
            if counts[key] == nil, counts.count >= maxUses {
                key = Key(tenant: tenant, message: message, use: nil)
            }
            counts[key, default: 0] += 1
        }
        let names = try StoredName.texts(
            of: Set(counts.keys.flatMap { [$0.tenant, $0.message] }), in: database)
        self.rows = counts.map { key, hits in
            InAppDetail(
                tenant: names[key.tenant] ?? StoredName.missing(key.tenant),
                messageID: names[key.message] ?? StoredName.missing(key.message), use: key.use,
                hits: hits)
        }.sorted { left, right in
            if left.tenant != right.tenant { return left.tenant < right.tenant }
            let (leftID, rightID) = (ExactText(left.messageID), ExactText(right.messageID))
            if leftID != rightID { return leftID < rightID }
            if left.hits != right.hits { return left.hits > right.hits }
            return left.order < right.order
        }
    }

    private static func selection(_ query: ReportQuery) -> String {
        """
        SELECT tenant, delivery, kind, event FROM \(query.hits)
        WHERE product = \(Product.firebase.rawValue) AND \(ReportQuery.condition)
        """
    }

    private static func use(_ row: Row) throws -> InAppDetail.Use {
        let kind = try row.decode(UInt8.self, forColumn: "kind")
        var use = InAppDetail.Use(what: Self.what(HitKind(rawValue: kind)))
        // The sink stores only events that admission has parsed.
        try row.withUnsafeData(named: "event") { data in
            data?.withUnsafeBytes { bytes in
                guard let view = try? InAppDetailView(bytes) else { return }
                use.action = view.actionText.text
                use.link = view.actionURL.text
                use.trigger = view.triggerEvent.text
                use.dismissal = Self.name(["", "auto", "click", "swipe"], view.dismissType)
                use.error = Self.name(
                    ["", "image_fetch", "image_display", "image_format"], view.errorReason)
            }
        }
        return use
    }

    private static func what(_ kind: HitKind?) -> String {
        switch kind {
        case .inAppImpression: "impression"
        case .inAppClick: "click"
        case .inAppDismissal: "dismissal"
        case .inAppDisplayError: "display_error"
        case .impression, .click, .open, .button1, .button2, .close, nil: "unknown"
        }
    }

    /// A number of a newer client is shown as a number.
    private static func name(_ names: [String], _ number: UInt64) -> String {
        number < names.count ? names[Int(number)] : "\(number)"
    }
}

extension InAppDetail {
    /// The order of rows with equal counts.
    fileprivate var order: ExactText {
        guard let use else { return ExactText("~") }
        return ExactText(
            [use.what, use.action, use.link, use.dismissal, use.error, use.trigger]
                .joined(separator: "\n"))
    }
}

extension InAppDetails {
    /// The lines of a table, without colours; empty without in-app messages.
    package func lines() -> [String] {
        guard !self.rows.isEmpty else { return [] }
        return ["", "In-app messages by use", ""] + InAppDetailTable.lines(self.rows)
    }
}

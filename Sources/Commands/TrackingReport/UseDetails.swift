internal import Foundation
package import GRDB
internal import TrackingRules
internal import WireFormat

/// Push notifications by button and link, or in-app messages by action, link, dismissal, error and
/// trigger. It reads the hits themselves, so its time grows with their number, and it does not
/// include deleted ones.
package struct UseDetails: Sendable, Equatable {
    /// What was used.
    package enum Subject: Sendable {
        /// Push notifications, and Campaign's own in-app messages.
        case push
        /// Firebase in-app messages.
        case inApp
    }

    /// The maximum number of different uses, since a client may send any label and link. Further
    /// ones are summed in one row per message.
    package static let maxUses = 10_000

    /// What was used.
    package let subject: Subject
    /// The rows by message; those of one message by frequency, highest first.
    package let rows: [UseDetail]

    private struct Key: Hashable {
        let tenant: Int64
        let message: Int64
        let use: UseDetail.Use?
    }

    /// Reads the hits that match a query.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init(
        _ query: ReportQuery, of subject: Subject, in database: Database,
        maxUses: Int = Self.maxUses
    ) throws {
        self.subject = subject
        query.prepare(database)
        let query = query.whole(by: try query.steps(in: database))
        var counts: [Key: Int] = [:]
        let cursor = try Row.fetchCursor(
            database, sql: Self.selection(query, of: subject), arguments: query.arguments)
        while let row = try cursor.next() {
            let tenant = try row.decode(Int64.self, forColumn: "tenant")
            let message = try row.decode(Int64.self, forColumn: "delivery")
            var key = Key(tenant: tenant, message: message, use: try Self.use(row, of: subject))
            if counts[key] == nil, counts.count >= maxUses {
                key = Key(tenant: tenant, message: message, use: nil)
            }
            counts[key, default: 0] += 1
        }
        let names = try StoredName.texts(
            of: Set(counts.keys.flatMap { [$0.tenant, $0.message] }), in: database)
        self.rows = counts.map { key, hits in
            UseDetail(
                tenant: names[key.tenant] ?? StoredName.missing(key.tenant),
                id: names[key.message] ?? StoredName.missing(key.message),
                isPush: subject == .push, use: key.use, hits: hits)
        }.sorted { left, right in
            if left.tenant != right.tenant { return left.tenant < right.tenant }
            let (leftID, rightID) = (ExactText(left.id), ExactText(right.id))
            if leftID != rightID { return leftID < rightID }
            if left.hits != right.hits { return left.hits > right.hits }
            return left.order < right.order
        }
    }

    private static func selection(_ query: ReportQuery, of subject: Subject) -> String {
        """
        SELECT tenant, delivery, kind, event FROM \(query.hits)
        WHERE product \(subject == .inApp ? "=" : "<>") \(Product.firebase.rawValue)
            AND NOT (\(ReportQuery.isSend)) AND \(ReportQuery.condition)
        """
    }

    private static func use(_ row: Row, of subject: Subject) throws -> UseDetail.Use {
        let kind = HitKind(rawValue: try row.decode(UInt8.self, forColumn: "kind"))
        var use = UseDetail.Use(what: Self.what(kind))
        // The sink stores only events that admission has parsed.
        try row.withUnsafeData(named: "event") { data in
            data?.withUnsafeBytes { bytes in
                switch subject {
                case .push: use.readPush(bytes)
                case .inApp: use.readInApp(bytes)
                }
            }
        }
        return use
    }

    private static func what(_ kind: HitKind?) -> String {
        switch kind {
        case .impression, .inAppImpression: "impression"
        case .click, .inAppClick: "click"
        case .inAppDismissal: "dismissal"
        case .inAppDisplayError: "display_error"
        case .open: "open"
        case .button1: "button_1"
        case .button2: "button_2"
        case .close: "close"
        case .inAppTriggered: "triggered"
        case .inAppSuppressed: "suppressed"
        case .sent, .sendFailed, .sendSkipped, nil: "unknown"
        }
    }
}

extension UseDetail.Use {
    /// Reads the button and the link of a push notification's event; a TrackAction has neither. A
    /// tracked link is another one for each recipient: it is told by its own id.
    fileprivate mutating func readPush(_ event: UnsafeRawBufferPointer) {
        guard let view = try? EventView(event) else { return }
        self.source = EventSource(number: view.source).name
        guard view.interaction == .push else { return }
        if view.isDismissal { self.what = "dismissal" }
        (self.action, self.link, self.linkID) = view.withPushUse { button, link in
            guard let tracked = TrackedLink(link) else { return (button.text, link.text, "") }
            return (button.text, tracked.withoutRecipient, tracked.id)
        }
    }

    fileprivate mutating func readInApp(_ event: UnsafeRawBufferPointer) {
        guard let view = try? InAppDetailView(event) else { return }
        self.action = view.actionText.text
        self.link = view.actionURL.text
        self.trigger = view.triggerEvent.text
        self.dismissal = Self.name(["", "auto", "click", "swipe"], view.dismissType)
        self.error =
            view.fetchErrorReason == 0
            ? Self.name(["", "image_fetch", "image_display", "image_format"], view.errorReason)
            : Self.name(
                ["", "fetch_server", "fetch_client", "fetch_network"], view.fetchErrorReason)
        self.triggerKind = Self.name(
            ["", "analytics_event", "foreground", "app"], view.triggerKind)
        self.layout = Self.name(["", "card", "modal", "banner", "image"], view.layout)
    }

    /// A number of a newer client is shown as a number.
    private static func name(_ names: [String], _ number: UInt64) -> String {
        number < names.count ? names[Int(number)] : "\(number)"
    }
}

extension UseDetail {
    /// The order of rows with equal counts.
    fileprivate var order: ExactText {
        guard let use else { return ExactText("~") }
        return ExactText(
            [
                use.what, use.action, use.link, use.dismissal, use.error, use.trigger,
                use.triggerKind, use.layout, use.source,
            ].joined(separator: "\n"))
    }
}

extension UseDetails {
    /// The table for people; without hits it has no rows.
    package var table: DetailTable { UseDetailTable.table(self.rows, of: self.subject) }
}

package import TrackingRules

/// A row of the ledger, decoded.
package struct LedgerRow: Sendable, Equatable {
    /// Who sent the events.
    package let tenant: String
    /// The app, cut to 64 bytes.
    package let app: String
    /// The delivery or the in-app message, cut to 64 bytes; empty if the event has none that can be
    /// read.
    package let delivery: String
    /// The events' platform; nil where they name none.
    package let platform: Platform?
    /// The product that made the delivery.
    package let product: Product
    /// When they were received: hours since 1970. Of older rows it is the first hour of the day.
    package let hour: UInt32
    /// What became of them.
    package let outcome: LedgerOutcome
    /// The flag's value, or the field and rule of a rejection.
    package let detail: String
    /// The outcome of the events that a row by version or of sends counts again; nil for another
    /// row, and for `other`.
    package let counted: LedgerOutcome?
    /// The app's version of a row by version, cut to 32 bytes; empty of another one.
    package let appVersion: String
    /// Why the pushes of a row of sends were not sent, or who shows them; none of another one.
    package let mark: SendMark
    /// Whether it counts what has no row of its own: then it has no app, delivery and hour.
    package let isOther: Bool
    /// The number of events.
    package let count: UInt64

    /// Creates a row from its parts.
    package init(
        tenant: String, app: String, delivery: String, platform: Platform?, product: Product,
        hour: UInt32, outcome: LedgerOutcome, detail: String = "",
        counted: LedgerOutcome? = nil, appVersion: String = "", mark: SendMark = .none,
        isOther: Bool = false, count: UInt64
    ) {
        self.tenant = tenant
        self.app = app
        self.delivery = delivery
        self.platform = platform
        self.product = product
        self.hour = hour
        self.outcome = outcome
        self.detail = detail
        self.counted = counted
        self.appVersion = appVersion
        self.mark = mark
        self.isOther = isOther
        self.count = count
    }

    init(_ key: LedgerKey, count: UInt64) {
        let facts = LedgerSubject.facts(of: key.facts)
        let isCountedAgain = key.outcome == .version || key.outcome == .send
        self.init(
            tenant: String(decoding: key.tenant, as: UTF8.self),
            app: String(decoding: key.app, as: UTF8.self),
            delivery: String(decoding: key.delivery, as: UTF8.self), platform: facts.platform,
            product: facts.product, hour: key.hour, outcome: key.outcome,
            detail: isCountedAgain ? "" : String(decoding: key.detail, as: UTF8.self),
            counted: key.counted, appVersion: String(decoding: key.version, as: UTF8.self),
            mark: key.mark, isOther: key.isOther, count: count)
    }
}

/// A row of the ledger as the table has it.
package struct LedgerCount: Sendable {
    let key: LedgerKey
    let count: UInt64

    /// The row, with its key decoded.
    package var row: LedgerRow { LedgerRow(self.key, count: self.count) }
}

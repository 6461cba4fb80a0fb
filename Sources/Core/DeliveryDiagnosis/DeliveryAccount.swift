package import TrackingJournal
internal import TrackingRules

/// What the ledger has of a tenant's delivery: its rows, and what they tell.
package struct DeliveryAccount: Sendable {
    /// The tenant.
    package let tenant: String
    /// The delivery's id.
    package let delivery: String
    /// Its rows, newest first.
    package let rows: [LedgerRow]
    /// The rows without a delivery that concern it: of its apps, or of all where it has no row; and
    /// the tenant's `other`.
    package let unnamed: [LedgerRow]
    /// Whether there were more rows than `maxRows`.
    package let isTruncated: Bool
    /// What is wrong, the most events first.
    package let findings: [DeliveryFinding]

    /// The rows of a delivery, and the rows without one, that are looked at.
    package static let maxRows = 5000

    /// What an account is made of, as it is in a ledger: quickly read, for the journal waits.
    package struct Source: Sendable {
        fileprivate let tenant: String
        fileprivate let delivery: String
        fileprivate let rows: [LedgerCount]
        fileprivate let unnamed: [LedgerCount]

        /// Reads a delivery's rows, and those without one.
        package init(of delivery: String, tenant: String, in ledger: Ledger) {
            let limit = DeliveryAccount.maxRows + 1
            self.tenant = tenant
            self.delivery = delivery
            self.rows = ledger.counts(tenant: tenant, delivery: delivery, limit: limit)
            self.unnamed = ledger.counts(tenant: tenant, delivery: "", limit: limit)
        }
    }

    /// The account of a delivery in a ledger.
    package init(of delivery: String, tenant: String, in ledger: Ledger) {
        self.init(Source(of: delivery, tenant: tenant, in: ledger))
    }

    /// The account of a delivery.
    package init(_ source: Source) {
        let own = source.rows.prefix(Self.maxRows).map(\.row)
        let others = source.unnamed.prefix(Self.maxRows).map(\.row)
        self.tenant = source.tenant
        self.delivery = source.delivery
        self.rows = own
        self.unnamed =
            DeliveryDiagnosis.concerned(others, by: own) + others.filter(\.isOther)
        self.isTruncated = max(source.rows.count, source.unnamed.count) > Self.maxRows
        self.findings =
            DeliveryDiagnosis(of: source.delivery, rows: own, unnamed: others).findings
    }
}

extension Ledger {
    /// The accounts of a delivery: of one tenant, or of each that has rows of it. If none has, of
    /// each that has any. Reads the whole table.
    package func accounts(of delivery: String, tenant: String?) -> [DeliveryAccount] {
        if let tenant { return [DeliveryAccount(of: delivery, tenant: tenant, in: self)] }
        let rows = self.all
        let cut = String(
            decoding: Self.cut(delivery, to: LedgerSubject.nameBytes), as: UTF8.self)
        let owners = Set(rows.lazy.filter { $0.delivery == cut }.map(\.tenant))
        let tenants = owners.isEmpty ? Set(rows.lazy.map(\.tenant)) : owners
        let named = tenants.isEmpty ? ["default"] : tenants.sorted()
        return named.prefix(Self.maxAccounts).map {
            DeliveryAccount(of: delivery, tenant: $0, in: self)
        }
    }

    private static let maxAccounts = 100
}

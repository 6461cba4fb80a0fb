internal import Pacing
package import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// Everything that the ledger has about one delivery of a tenant: its rows, and the findings drawn
/// from them. `sightline why` builds it from a ledger. A running server builds it from a `Source`,
/// because the journal waits while the rows are read.
///
/// It never changes the ledger, never shows one tenant another's rows, and holds no id of a person.
package struct DeliveryAccount: Sendable {
    /// The tenant.
    package let tenant: String
    /// The delivery's id.
    package let delivery: String
    /// Its rows, newest first.
    package let rows: [LedgerRow]
    /// The rows without a delivery that may concern it: those of its apps, or all if it has no row
    /// itself; and the tenant's `other` rows.
    package let unnamed: [LedgerRow]
    /// Whether there were more rows than `maxRows`.
    package let isTruncated: Bool
    /// What is wrong, the most events first.
    package let findings: [DeliveryFinding]

    /// The maximum number of rows that are read: of the delivery, and again of events without a
    /// delivery.
    package static let maxRows = 5000

    /// The rows from which an account is made. Reading them is fast, which matters because the
    /// journal waits meanwhile.
    package struct Source: Sendable {
        /// What the tenant has put of the delivery as a whole; nil if it has not.
        package var totals: DeliveryTotals?
        fileprivate let tenant: String
        fileprivate let delivery: String
        fileprivate let rows: [LedgerCount]
        fileprivate let unnamed: [LedgerCount]
        fileprivate let before: [LedgerCount]
        fileprivate let hour: UInt32

        /// Reads a delivery's rows, those without one, and those of the delivery sent before it.
        ///
        /// - Parameter hour: now, in hours since 1970.
        package init(
            of delivery: String, tenant: String, in ledger: Ledger,
            hour: UInt32 = DeliveryAccount.currentHour()
        ) {
            let limit = DeliveryAccount.maxRows + 1
            self.hour = hour
            self.before = ledger.countsBefore(delivery: delivery, tenant: tenant, limit: limit)
            self.tenant = tenant
            self.delivery = delivery
            self.rows = ledger.counts(tenant: tenant, delivery: delivery, limit: limit)
            self.unnamed = ledger.counts(tenant: tenant, delivery: "", limit: limit)
        }
    }

    /// The account of a delivery in a ledger.
    ///
    /// - Parameter hour: now, in hours since 1970.
    package init(
        of delivery: String, tenant: String, in ledger: Ledger,
        hour: UInt32 = DeliveryAccount.currentHour()
    ) {
        self.init(Source(of: delivery, tenant: tenant, in: ledger, hour: hour))
    }

    /// The hour of the wall clock, in hours since 1970.
    package static func currentHour() -> UInt32 {
        UInt32(clamping: WallClock.microseconds() / 3_600_000_000)
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
            DeliveryDiagnosis(
                of: source.delivery, rows: own, unnamed: others,
                before: source.before.prefix(Self.maxRows).map(\.row), hour: source.hour,
                totals: source.totals
            ).findings
    }
}

extension Ledger {
    /// The accounts of a delivery: of one tenant, or of each tenant that has rows of it. If none
    /// has rows of it, of each tenant that has rows at all. Reads the whole table.
    ///
    /// - Parameter totals: what tenants have put of the delivery.
    package func accounts(
        of delivery: String, tenant: String?, totals: [DeliveryTotals] = []
    ) -> [DeliveryAccount] {
        func account(_ tenant: String) -> DeliveryAccount {
            var source = DeliveryAccount.Source(of: delivery, tenant: tenant, in: self)
            source.totals = totals.first { $0.tenant.equals(tenant) }
            return DeliveryAccount(source)
        }
        if let tenant { return [account(tenant)] }
        let rows = self.all
        let name = Self.name(of: delivery)
        let owners = Set(rows.lazy.filter { $0.delivery.equals(name) }.map(\.tenant))
        let tenants = owners.isEmpty ? Set(rows.lazy.map(\.tenant)) : owners
        let named = tenants.isEmpty ? ["default"] : tenants.sorted()
        return named.prefix(Self.maxAccounts).map(account)
    }

    private static let maxAccounts = 100
}

package import DeliveryDiagnosis
package import Foundation
package import TrackingJournal
internal import WireFormat

/// The names and totals of deliveries that a report adds to their hits: of a file, or of those that
/// tenants have put on a server.
package struct DeliveryNames: Sendable {
    /// The entry of one delivery.
    package struct Entry: Sendable, Equatable {
        /// The delivery's name; nil if it has none.
        package var name: String?
        /// The number of messages that a push service took; nil if that is not known.
        package var delivered: Int?
        /// The number of messages that somebody tried to send; nil if that is not known.
        package var sent: Int?
        /// The number of messages that a push service did not take; nil if that is not known.
        package var failed: Int?
        /// When the delivery was sent, in microseconds since 1970; nil if that is not known.
        package var sentTime: Int64?
    }

    /// A delivery. A file tells of no tenant: its deliveries are those of any, and theirs is empty.
    struct Key: Hashable, Comparable {
        let id: ExactText
        let tenant: ExactText

        static func < (one: Key, other: Key) -> Bool {
            (one.id, one.tenant) < (other.id, other.tenant)
        }
    }

    private let entries: [Key: Entry]

    /// Reads CSV in UTF-8, as of a `DeliveryTotalsTable`.
    ///
    /// - Throws: `DeliveryNamesError` with the line of the first fault.
    package init(csv: Data) throws(DeliveryNamesError) {
        self.init(try DeliveryTotalsTable(csv: csv).rows.map(\.totals))
    }

    /// The names of deliveries, each once.
    package init(_ deliveries: [DeliveryTotals]) {
        self.entries = Dictionary(
            deliveries.map { totals in
                let key = Key(id: ExactText(totals.delivery), tenant: ExactText(totals.tenant))
                let entry = Entry(
                    name: totals.name, delivered: totals.delivered, sent: totals.sent,
                    failed: totals.failed, sentTime: totals.sentTime)
                return (key, entry)
            }
        ) { $1 }
    }

    /// The deliveries that a report has a row of even if they have no hit. Those of a tenant are
    /// left out if they were sent outside of its times, and of a report of one app, for nobody
    /// knows whether they are its own.
    func deliveries(of query: ReportQuery) -> Set<Key> {
        Set(
            self.entries.lazy.filter { key, entry in
                if let delivery = query.delivery, key.id != ExactText(delivery) { return false }
                if key.tenant.text.isEmpty { return true }
                if let tenant = query.tenant, key.tenant != ExactText(tenant) { return false }
                guard query.app == nil else { return false }
                guard let time = entry.sentTime else { return true }
                if let since = query.since, time < since { return false }
                if let until = query.until, time >= until { return false }
                return true
            }.map(\.key))
    }

    /// The deliveries that a search may mean.
    ///
    /// - Parameter tenant: the only tenant whose deliveries are looked at; nil for all.
    package func candidates(
        of search: DeliverySearch, tenant: String? = nil
    ) -> [DeliverySearch.Candidate] {
        DeliverySearch.best(
            of: self.entries.compactMap { key, entry in
                if let tenant, !key.tenant.text.isEmpty, key.tenant != ExactText(tenant) {
                    return nil
                }
                return search.candidate(
                    tenant: key.tenant.text, delivery: key.id.text, name: entry.name)
            })
    }

    /// The entry of a delivery in a file.
    package subscript(id: String) -> Entry? {
        self.entries[Key(id: ExactText(id), tenant: "")]
    }

    /// The entry of a tenant's delivery.
    package subscript(id: String, of tenant: String) -> Entry? {
        self[id] ?? self.entries[Key(id: ExactText(id), tenant: ExactText(tenant))]
    }
}

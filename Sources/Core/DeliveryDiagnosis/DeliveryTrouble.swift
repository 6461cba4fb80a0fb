internal import TrackingJournal
internal import WireFormat

/// A finding with its delivery: a line in the data quality section of a report.
package struct DeliveryTrouble: Codable, Sendable, Equatable {
    /// The tenant.
    package let tenant: String
    /// The delivery's id.
    package let delivery: String
    /// The finding's code.
    package let code: String
    /// The finding's sentence.
    package let sentence: String
    /// The number of events that it concerns.
    package let events: UInt64

    /// Creates a line from its parts.
    package init(
        tenant: String, delivery: String, code: String, sentence: String, events: UInt64
    ) {
        self.tenant = tenant
        self.delivery = delivery
        self.code = code
        self.sentence = sentence
        self.events = events
    }
}

extension Ledger {
    /// The findings of every delivery, those with the most events first. Reads the whole table.
    ///
    /// - Parameters:
    ///   - tenant: the tenant of the deliveries; nil for all.
    ///   - delivery: the only delivery to look at; nil for all.
    ///   - limit: the maximum number of lines.
    package func troubles(
        tenant: String? = nil, delivery: String? = nil, limit: Int
    ) -> [DeliveryTrouble] {
        struct Place: Hashable {
            let tenant: String
            let delivery: ExactText
        }
        var rows: [Place: [LedgerRow]] = [:]
        for row in self.all where !row.delivery.isEmpty {
            let place = Place(tenant: row.tenant, delivery: ExactText(row.delivery))
            guard tenant == nil || row.tenant == tenant,
                delivery.map({ ExactText($0) == place.delivery }) ?? true
            else { continue }
            rows[place, default: []].append(row)
        }
        let troubles = rows.flatMap { place, rows -> [DeliveryTrouble] in
            let delivery = place.delivery.text
            return DeliveryDiagnosis(of: delivery, rows: rows, unnamed: []).findings.map {
                DeliveryTrouble(
                    tenant: place.tenant, delivery: delivery, code: $0.code.rawValue,
                    sentence: $0.sentence, events: $0.figures.first?.value ?? 0)
            }
        }
        return Array(
            troubles.sorted {
                ($1.events, $0.tenant, ExactText($0.delivery), $0.code)
                    < ($0.events, $1.tenant, ExactText($1.delivery), $1.code)
            }.prefix(limit))
    }
}

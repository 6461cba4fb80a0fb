package import TrackingJournal
internal import TrackingRules
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
    ///   - totals: what tenants have put of deliveries; of `deliveriesToCompare` it is enough.
    ///   - hour: now, in hours since 1970.
    package func troubles(
        tenant: String? = nil, delivery: String? = nil, limit: Int, totals: [DeliveryTotals] = [],
        hour: UInt32 = DeliveryAccount.currentHour()
    ) -> [DeliveryTrouble] {
        var order = SendOrder()
        var rows: [DeliveryPlace: [LedgerRow]] = [:]
        for (index, row) in self.all.enumerated()
        where !row.delivery.isEmpty && (tenant ?? row.tenant) == row.tenant {
            let place = DeliveryPlace(tenant: row.tenant, delivery: row.delivery)
            rows[place, default: []].append(row)
            if row.outcome.isSendAttempt { order.add(place, app: row.app, at: index) }
        }
        let only = delivery.map { ExactText(Self.name(of: $0)) }
        let put = Dictionary(totals.map { (DeliveryPlace($0), $0) }) { first, _ in first }
        let troubles = rows.flatMap { place, own -> [DeliveryTrouble] in
            guard only.map({ $0 == place.delivery }) ?? true else { return [] }
            let before = order.before(place).flatMap { rows[$0] } ?? []
            let diagnosis = DeliveryDiagnosis(
                of: place.delivery.text, rows: own, unnamed: [], before: before, hour: hour,
                totals: put[place])
            return diagnosis.findings.map {
                DeliveryTrouble(
                    tenant: place.tenant.text, delivery: place.delivery.text,
                    code: $0.code.rawValue, sentence: $0.sentence,
                    events: $0.figures.first?.value ?? 0)
            }
        }
        return Array(
            troubles.sorted {
                ($1.events, $0.tenant, ExactText($0.delivery), $0.code)
                    < ($0.events, $1.tenant, ExactText($1.delivery), $1.code)
            }.prefix(limit))
    }
}

extension Ledger {
    /// The ids of the deliveries that `troubles` compares with what was put of them, at most
    /// `maxCompared`.
    ///
    /// - Parameter delivery: the only delivery that it looks at; nil for all.
    package func deliveriesToCompare(_ delivery: String? = nil) -> [String] {
        delivery.map { [$0] } ?? self.sentDeliveries()
    }
}

/// Which delivery was sent before which, as `Ledger.countsBefore` finds it.
private struct SendOrder {
    private struct Sender: Hashable {
        let tenant: ExactText
        let app: ExactText
    }

    /// The delivery of each sender's last attempt, and that row's place in the ledger.
    private var last: [Sender: (place: DeliveryPlace, index: Int)] = [:]
    private var earlier: [DeliveryPlace: DeliveryPlace?] = [:]

    /// Adds a row of attempts to send, in the order of the ledger.
    mutating func add(_ place: DeliveryPlace, app: String, at index: Int) {
        let sender = Sender(tenant: place.tenant, app: ExactText(app))
        if self.earlier[place] == nil {
            let last = self.last[sender].flatMap {
                index - $0.index <= Ledger.maxRowsBefore ? $0.place : nil
            }
            self.earlier.updateValue(last, forKey: place)
        }
        self.last[sender] = (place, index)
    }

    /// The delivery that was sent before one; nil if there is none.
    func before(_ place: DeliveryPlace) -> DeliveryPlace? { self.earlier[place] ?? nil }
}

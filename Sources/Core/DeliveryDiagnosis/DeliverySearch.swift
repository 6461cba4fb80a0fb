package import TrackingJournal
internal import WireFormat

/// What somebody asked for as a delivery, compared with the ids and names that there are.
/// `sightline why` uses it where nothing of the delivery has arrived.
///
/// Ids are bytes: another spelling is another delivery, so a match is only a proposal.
package struct DeliverySearch: Sendable {
    /// A delivery that may be meant.
    package struct Candidate: Codable, Sendable, Equatable {
        /// The tenant; empty if unknown.
        package let tenant: String
        /// The delivery's id, or an in-app message's.
        package let delivery: String
        /// Its name, or its campaign's; nil if unknown.
        package let name: String?
        /// Whether the id or the name differs from what was asked for in the case of letters alone.
        package let isSame: Bool
    }

    /// The maximum number of candidates.
    package static let maxCandidates = 10

    private let folded: String

    /// A search for an id or a name.
    package init(_ text: String) { self.folded = text.lowercased() }

    /// A delivery as a candidate; nil if neither its id nor its name contains what was asked for,
    /// in letters of any case.
    package func candidate(tenant: String, delivery: String, name: String?) -> Candidate? {
        let texts = [delivery, name ?? ""].map { $0.lowercased() }
        guard !self.folded.isEmpty,
            texts.contains(where: { $0.utf8.contains(self.folded.utf8) })
        else { return nil }
        return Candidate(
            tenant: tenant, delivery: delivery, name: name,
            isSame: texts.contains { $0.equals(self.folded) })
    }

    /// The candidates to propose: those that differ in the case of letters alone, or the others if
    /// there are none, by id and tenant. Tenants may have deliveries of the same id: each stands by
    /// itself, with its own name. A name of an unknown tenant holds for those without.
    package static func best(of candidates: [Candidate]) -> [Candidate] {
        let same = candidates.filter(\.isSame)
        // Those of an unknown tenant come first, and names before none.
        let sorted = (same.isEmpty ? candidates : same).sorted {
            if !$0.delivery.equals($1.delivery) {
                return ExactText($0.delivery) < ExactText($1.delivery)
            }
            return ($0.tenant, $0.name == nil ? 1 : 0) < ($1.tenant, $1.name == nil ? 1 : 0)
        }
        var best: [Candidate] = []
        var unowned: Candidate?
        for candidate in sorted {
            if candidate.tenant.isEmpty, unowned?.delivery.equals(candidate.delivery) != true {
                unowned = candidate
            }
            let isSameDelivery = best.last?.delivery.equals(candidate.delivery) == true
            if isSameDelivery, best.last?.tenant == candidate.tenant { continue }
            if isSameDelivery, best.last?.tenant.isEmpty == true { best.removeLast() }
            let isNamed = unowned?.delivery.equals(candidate.delivery) == true
            best.append(candidate.named(isNamed ? unowned?.name : nil))
        }
        return Array(best.prefix(Self.maxCandidates))
    }
}

extension DeliverySearch.Candidate {
    /// The same with a name, if it has none.
    fileprivate func named(_ name: String?) -> Self {
        Self(
            tenant: self.tenant, delivery: self.delivery, name: self.name ?? name,
            isSame: self.isSame)
    }
}

extension Ledger {
    /// The deliveries and in-app messages whose ids a search may mean. Reads the whole table.
    ///
    /// - Parameter tenant: the tenant of the deliveries; nil for all.
    package func candidates(
        of search: DeliverySearch, tenant: String?
    ) -> [DeliverySearch.Candidate] {
        var seen: Set<[ExactText]> = []
        var candidates: [DeliverySearch.Candidate] = []
        for row in self.all where !row.delivery.isEmpty && (tenant ?? row.tenant) == row.tenant {
            guard seen.insert([ExactText(row.tenant), ExactText(row.delivery)]).inserted,
                let candidate = search.candidate(
                    tenant: row.tenant, delivery: row.delivery, name: nil)
            else { continue }
            candidates.append(candidate)
        }
        return DeliverySearch.best(of: candidates)
    }
}

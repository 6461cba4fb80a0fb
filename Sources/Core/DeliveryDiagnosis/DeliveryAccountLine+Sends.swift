internal import WireFormat

extension Sequence<DeliveryAccountLine.Row> {
    /// What a sender told with one outcome by a name of each fact, such as its reason; the most
    /// events first, then by name.
    ///
    /// - Parameter kind: the hit's name, such as "send_failed".
    package func sends(
        of kind: String, by name: (DeliveryAccountLine.Row) -> String
    ) -> [(name: String, events: UInt64)] {
        var counts: [ExactText: UInt64] = [:]
        for row in self
        where row.verdict == "send" && row.detail == "accepted " + kind && !row.delivery.isEmpty {
            counts[ExactText(name(row)), default: 0] &+= row.events
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { (name: $0.key.text, events: $0.value) }
    }
}

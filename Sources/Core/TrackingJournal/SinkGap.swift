/// Consecutive groups that were released before a sink had them. They begin after its cursor.
struct SinkGap: Equatable {
    /// The newest of the groups.
    var through: Int64
    /// The number of their events and hits, as far as known: of damaged records it may not be.
    var events: Int
    var hits: Int

    /// The gap, extended by the next group.
    static func adding(_ row: StoredRow, to gap: SinkGap?) -> SinkGap {
        SinkGap(
            through: row.sequence, events: (gap?.events ?? 0) &+ Int(row.eventCount),
            hits: (gap?.hits ?? 0) &+ Int(row.hitCount))
    }

    /// Both gaps as one; `second` follows `first`.
    static func joining(_ first: SinkGap?, _ second: SinkGap?) -> SinkGap? {
        guard let first, let second else { return first ?? second }
        return SinkGap(
            through: second.through, events: first.events &+ second.events,
            hits: first.hits &+ second.hits)
    }
}

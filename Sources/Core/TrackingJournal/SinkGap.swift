/// The groups that the journal let go before a sink had them. They follow each other, and begin
/// after the sink's cursor.
struct SinkGap: Equatable {
    /// The newest of them.
    var through: Int64
    /// Their events and hits; of records that were lost before, as many as are known.
    var events: Int
    var hits: Int

    /// Adds the next group.
    static func adding(_ row: StoredRow, to gap: SinkGap?) -> SinkGap {
        SinkGap(
            through: row.sequence, events: (gap?.events ?? 0) &+ Int(row.eventCount),
            hits: (gap?.hits ?? 0) &+ Int(row.hitCount))
    }

    /// Both together, the second of which follows the first.
    static func joining(_ first: SinkGap?, _ second: SinkGap?) -> SinkGap? {
        guard let first, let second else { return first ?? second }
        return SinkGap(
            through: second.through, events: first.events &+ second.events,
            hits: first.hits &+ second.hits)
    }
}

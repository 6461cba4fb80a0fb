package import WireFormat

extension HitBlock {
    /// Appends those hits of a payload that are wanted, in the journal's form and in order.
    ///
    /// - Parameters:
    ///   - wanted: the kinds of an event's hits that are wanted, some of those that it has.
    ///   - replaced: other bytes for an event; nil for its own.
    /// - Returns: how many events and hits were appended.
    /// - Throws: `DamagedPayload`, or errors of `wanted` and `replaced`.
    package static func append(
        to result: inout [UInt8], from payload: Bytes,
        wanted: (JournalEvent, Hit.Origin) throws -> HitKinds = { event, _ in event.kinds },
        replaced: (JournalEvent, Hit.Origin) throws -> [UInt8]? = { _, _ in nil }
    ) throws -> (events: Int, hits: Int) {
        var (events, hits) = (0, 0)
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            let block = try cursor.block()
            let start = result.count
            result += block.header
            var entries = PayloadCursor(block.entries)
            var count = 0
            for _ in 0..<block.entryCount {
                let event = try entries.entry()
                let kinds = try wanted(event, block.origin).intersection(event.kinds)
                if kinds.isEmpty { continue }
                let other = try replaced(event, block.origin)
                result.appendEntry(
                    key: event.key, product: event.product, kinds: kinds,
                    warnings: event.warnings, event: other == nil ? event.bytes : .none,
                    more: other ?? [])
                count += 1
                hits += kinds.rawValue.nonzeroBitCount
            }
            events += count
            if count == 0 {
                result.removeLast(result.count - start)
            } else {
                Self.setEntries(
                    count: count, bytes: result.count - start - block.header.count, in: &result,
                    at: start)
            }
        }
        return (events, hits)
    }
}

package import WireFormat

extension HitEncoding {
    /// Appends the wanted hits of a payload in the journal's encoding, in order.
    ///
    /// - Parameters:
    ///   - wanted: the kinds of an event's hits to append, a subset of those that it has.
    ///   - masked: whether an event is appended without its subject.
    /// - Returns: how many events and hits were appended.
    /// - Throws: `DamagedPayload`, or `WireError` if a masked event's bytes are not fields.
    package static func append(
        to result: inout [UInt8], from payload: Bytes,
        wanted: (JournalEvent, Hit.Request) -> HitKinds = { event, _ in event.kinds },
        masked: (JournalEvent, Hit.Request) -> Bool = { _, _ in false }
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
                let kinds = wanted(event, block.request).intersection(event.kinds)
                if kinds.isEmpty { continue }
                if masked(event, block.request) {
                    try event.withoutSubject { result.appendEntry($0, kinds: kinds) }
                } else {
                    result.appendEntry(event, kinds: kinds)
                }
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

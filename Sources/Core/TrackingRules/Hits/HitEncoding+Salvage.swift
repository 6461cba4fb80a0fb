package import WireFormat

extension HitEncoding {
    /// Reads as much as possible of a payload that cannot be read as a whole, such as one that a
    /// newer build wrote. Calls `body` for every readable hit, in order.
    ///
    /// - Parameter body: throws if it cannot use a hit; the hit's entry is then added to the
    ///   remainder.
    /// - Returns: the remainder, empty if everything was read. Unreadable entries of a plausible
    ///   length stay in the journal's encoding, so that a newer build can read them. From a
    ///   truncated block on, all bytes are returned unchanged.
    package static func salvage(_ payload: Bytes, _ body: (Hit) throws -> Void) -> [UInt8] {
        var rest: [UInt8] = []
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let block = try? cursor.block() else {
                // The block is truncated, so the start of the next one is unknown.
                return rest + payload[start...]
            }
            rest += Self.salvage(block, body)
        }
        return rest
    }

    private static func salvage(_ block: PayloadBlock, _ body: (Hit) throws -> Void) -> [UInt8] {
        var rest = [UInt8](block.header)
        var restCount = 0
        var entries = PayloadCursor(block.entries)
        for number in 0..<block.entryCount {
            let start = entries.offset
            guard let bytes = try? entries.entryBytes() else {
                rest += block.entries[start...]
                restCount += block.entryCount - number
                break
            }
            do {
                var entry = PayloadCursor(bytes)
                try Self.forEachHit(of: try entry.entry(), block.request, body)
            } catch {
                rest += bytes
                restCount += 1
            }
        }
        guard restCount > 0 else { return [] }
        Self.setEntries(
            count: restCount, bytes: rest.count - block.header.count, in: &rest, at: 0)
        return rest
    }
}

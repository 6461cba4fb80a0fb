// What can be read of a payload that cannot be read as a whole: a newer build may have written it.

extension HitBlock {
    /// Calls `body` with every hit that can be read, in order.
    ///
    /// - Parameter body: throws where it cannot use a hit; the hit's entry is left over then.
    /// - Returns: what is left over. Entries whose lengths make sense stand there in the journal's
    ///   form, so that a build that knows more of them can read them; behind a block without an
    ///   end all bytes are left over as they are. Empty where all was read.
    package static func salvage(_ payload: Bytes, _ body: (Hit) throws -> Void) -> [UInt8] {
        var rest: [UInt8] = []
        var cursor = PayloadCursor(payload)
        while !cursor.isAtEnd {
            let start = cursor.offset
            guard let block = try? cursor.block() else {
                // A block that has no end: where the next one begins cannot be told.
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
                try Self.forEachHit(of: try entry.entry(), block.origin, body)
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

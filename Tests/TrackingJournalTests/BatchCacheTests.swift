// The newest batches in memory, and which of them are there no more.
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct BatchCacheTests {
    private static func cache(maxBytes: Int = 1000) -> BatchCache {
        let cache = BatchCache(lastSequence: 0, maxBytes: maxBytes)
        for sequence: Int64 in 1...3 {
            cache.append(
                JournalBatch(
                    sequence: sequence, eventCount: 1, hitCount: 1,
                    payload: [UInt8](repeating: 0, count: 10)))
        }
        return cache
    }

    private func answer(of cache: BatchCache, after sequence: Int64) async -> String {
        let all = BatchLimit(hits: .max, bytes: .max)
        return switch await cache.batches(after: sequence, upTo: all) {
        case .batches(let batches): "\(batches.map(\.sequence))"
        case .onDisk(let last): "on disk through \(last)"
        case .closed: "closed"
        }
    }

    @Test("what every sink has is evicted at once, and one that goes back reads it from disk")
    func evicted() async {
        let cache = Self.cache()
        #expect(cache.bytes == 30)
        cache.evict(through: 2)
        #expect(cache.bytes == 10)
        #expect(await self.answer(of: cache, after: 0) == "on disk through 2")
        #expect(await self.answer(of: cache, after: 2) == "[3]")
        cache.evict(through: 1)
        #expect(await self.answer(of: cache, after: 1) == "on disk through 2")
        cache.evict(through: 4)
        #expect(cache.bytes == 0)
        #expect(await self.answer(of: cache, after: 2) == "on disk through 3")
    }

    @Test("at the limit all batches stay, and one byte beyond it the oldest goes")
    func limit() async {
        #expect(await self.answer(of: Self.cache(maxBytes: 30), after: 0) == "[1, 2, 3]")
        let full = Self.cache(maxBytes: 29)
        #expect(full.bytes == 20)
        #expect(await self.answer(of: full, after: 0) == "on disk through 1")
    }
}

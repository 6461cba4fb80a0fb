// The newest batches in memory, and which of them are there no more.
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct BatchTailTests {
    private static func tail(maxBytes: Int = 1000) -> BatchTail {
        let tail = BatchTail(lastSequence: 0, maxBytes: maxBytes)
        for sequence: Int64 in 1...3 {
            tail.append(
                JournalBatch(
                    sequence: sequence, eventCount: 1, hitCount: 1,
                    payload: [UInt8](repeating: 0, count: 10)))
        }
        return tail
    }

    private func answer(of tail: BatchTail, after sequence: Int64) async -> String {
        let all = BatchLimit(hits: .max, bytes: .max)
        return switch await tail.batches(after: sequence, upTo: all) {
        case .batches(let batches): "\(batches.map(\.sequence))"
        case .onDisk(let last): "on disk through \(last)"
        case .closed: "closed"
        }
    }

    @Test("what every sink has is evicted at once, and one that goes back reads it from disk")
    func evicted() async {
        let tail = Self.tail()
        #expect(tail.bytes == 30)
        tail.evict(through: 2)
        #expect(tail.bytes == 10)
        #expect(await self.answer(of: tail, after: 0) == "on disk through 2")
        #expect(await self.answer(of: tail, after: 2) == "[3]")
        tail.evict(through: 1)
        #expect(await self.answer(of: tail, after: 1) == "on disk through 2")
        tail.evict(through: 4)
        #expect(tail.bytes == 0)
        #expect(await self.answer(of: tail, after: 2) == "on disk through 3")
    }

    @Test("at the limit all batches stay, and one byte beyond it the oldest goes")
    func limit() async {
        #expect(await self.answer(of: Self.tail(maxBytes: 30), after: 0) == "[1, 2, 3]")
        let full = Self.tail(maxBytes: 29)
        #expect(full.bytes == 20)
        #expect(await self.answer(of: full, after: 0) == "on disk through 1")
    }
}

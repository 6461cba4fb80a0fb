// The bounded queue between spans and their export.
@testable internal import Telemetry
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct SpanQueueTests {
    @Test("the queue takes its limit, and drops and counts one beyond")
    func limit() {
        let counts = SpanCounts()
        let queue = SpanQueue(capacity: 3, batchSize: 2, counts: counts)
        for _ in 0..<3 { queue.add(TestSpans.record()) }
        #expect(counts.count(of: .queueFull) == 0)
        queue.add(TestSpans.record())
        #expect(counts.count(of: .queueFull) == 1)
        #expect(queue.takeBatch().count == 2)
        queue.add(TestSpans.record())
        #expect(counts.count(of: .queueFull) == 1)
        #expect([queue.takeBatch().count, queue.takeBatch().count] == [2, 0])
    }

    @Test("a batch is the oldest spans, in order")
    func order() {
        let queue = SpanQueue(capacity: 10, batchSize: 2, counts: SpanCounts())
        for name in ["a", "b", "c"] { queue.add(TestSpans.record(name)) }
        #expect(queue.takeBatch().map(\.name) == ["a", "b"])
        #expect(queue.takeBatch().map(\.name) == ["c"])
    }

    @Test("a batch larger than the queue is the whole queue")
    func batchBeyondCapacity() {
        let queue = SpanQueue(capacity: 2, batchSize: 512, counts: SpanCounts())
        queue.add(TestSpans.record())
        #expect(!queue.hasBatch)
        queue.add(TestSpans.record())
        #expect(queue.hasBatch)
    }

    @Test("waiting ends with the span that makes a batch whole, and not before")
    func waiting() async {
        let queue = SpanQueue(capacity: 10, batchSize: 2, counts: SpanCounts())
        queue.add(TestSpans.record())
        async let waited: Void = queue.waitForBatch()
        queue.add(TestSpans.record())
        await waited
        #expect(queue.takeBatch().count == 2)
    }

    @Test("closing ends the waiting; what comes then is dropped, what is there stays")
    func closing() async {
        let counts = SpanCounts()
        let queue = SpanQueue(capacity: 10, batchSize: 5, counts: counts)
        queue.add(TestSpans.record())
        async let waited: Void = queue.waitForBatch()
        queue.close()
        await waited
        queue.add(TestSpans.record())
        #expect(counts.count(of: .stopped) == 1)
        #expect(queue.takeBatch().count == 1)
    }

    @Test("a cancelled task waits for nothing")
    func cancelling() async {
        let queue = SpanQueue(capacity: 10, batchSize: 5, counts: SpanCounts())
        let waiting = Task { await queue.waitForBatch() }
        waiting.cancel()
        await waiting.value
        #expect(queue.isOpen)
    }
}

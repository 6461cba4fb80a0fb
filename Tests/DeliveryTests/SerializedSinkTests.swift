// A sink that its forwarder and a replay use.
@testable internal import Delivery
internal import Logging
internal import ServiceLifecycle
@testable internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing

struct SerializedSinkTests {
    /// Notices a delivery that begins before the last one has ended.
    private final class CountingSink: Sink {
        let name = "counting"
        private let state = Mutex((running: 0, most: 0, deliveries: 0))

        var running: Int { self.state.withLock(\.running) }
        var most: Int { self.state.withLock(\.most) }
        var deliveries: Int { self.state.withLock(\.deliveries) }

        func deliver(_ hits: HitBatch) async -> SinkAnswer {
            self.state.withLock { state in
                state.running += 1
                state.deliveries += 1
                state.most = max(state.most, state.running)
            }
            for _ in 0..<5 { await Task.yield() }
            self.state.withLock { $0.running -= 1 }
            return .delivered
        }
    }

    @Test("a sink has one batch at a time, whoever delivers")
    func turns() async throws {
        let sink = CountingSink()
        let serialized = SerializedSink(sink)
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                let user: any Sink = task.isMultiple(of: 2) ? serialized : serialized.replayed
                group.addTask {
                    for _ in 0..<50 { _ = await user.deliver(batch) }
                }
            }
        }
        #expect(sink.most == 1)
        #expect(sink.deliveries == 400)
    }

    @Test("a loss that a replay is told of is told to the forwarder, once")
    func loss() async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let serialized = SerializedSink(FailingSink([.dataLoss(reason: "gone")]))
        #expect(await serialized.replayed.deliver(batch) == .dataLoss(reason: "gone"))
        #expect(await serialized.replayed.deliver(batch) == .delivered)
        #expect(await serialized.deliver(batch) == .dataLoss(reason: "gone"))
        #expect(await serialized.deliver(batch) == .delivered)
    }

    @Test("a sink that has ended takes no more from a replay, and ends after the batch under way")
    func ended() async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let sink = CountingSink()
        let serialized = SerializedSink(sink)
        let replay = Task {
            var answer = SinkAnswer.delivered
            while answer == .delivered { answer = await serialized.replayed.deliver(batch) }
            return answer
        }
        while sink.deliveries == 0 { await Task.yield() }
        await serialized.end()
        #expect(sink.running == 0)
        let deliveries = sink.deliveries
        #expect(await replay.value == .unavailable(reason: "it was taken out of the list of sinks"))
        #expect(sink.deliveries == deliveries)
    }

    /// Erases in three pieces, and keeps in which order it was asked for what.
    private final class PiecesSink: ErasableSink {
        let name = "pieces"
        private let asked = Mutex<[String]>([])

        var order: [String] { self.asked.withLock { $0 } }

        func deliver(_ hits: HitBatch) async -> SinkAnswer {
            self.asked.withLock { $0.append("batch \(hits.sequence)") }
            return .delivered
        }

        func erase(_ subject: Subject) async -> ErasurePiece { self.piece(1) }

        private func piece(_ number: Int) -> ErasurePiece {
            self.asked.withLock { $0.append("piece \(number)") }
            return number == 3 ? .last(.erased(3)) : .followed { self.piece(number + 1) }
        }
    }

    @Test(
        "a sink takes batches between the pieces of an erasure, and what has ended erases no more")
    func pieces() async throws {
        let sink = PiecesSink()
        let serialized = SerializedSink(sink)
        let subject = Subject(tenant: "default", ids: ["subject-1"])
        let erasure = try await serialized.erase(subject).end { count in
            let batch = try TestHits.batch([TestEvents.full(id: count)], sequence: Int64(count))
            #expect(await serialized.deliver(batch) == .delivered)
        }
        #expect(erasure == .erased(3))
        #expect(sink.order == ["piece 1", "batch 1", "piece 2", "batch 2", "piece 3"])
        let ended = await serialized.erase(subject).end { _ in await serialized.end() }
        #expect(ended == .failed("it was taken out of the list of sinks"))
        #expect(sink.order.count == 6)
    }

    /// Erases a subject, as an admin's or a client's call does that the stop waits for.
    private struct Erasing: Service {
        let sink: SerializedSink
        let answers: AsyncStream<Erasure?>.Continuation

        func run() async {
            self.answers.yield(nil)
            self.answers.yield(
                await self.sink.erase(Subject(tenant: "default", ids: ["subject-1"])).end())
        }
    }

    @Test("an erasure that waits for a sink's turn ends when the server stops")
    func stop() async throws {
        let sink = SilentSink()
        let serialized = SerializedSink(sink)
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let delivery = Task { await serialized.deliver(batch) }
        await sink.waitUntilAsked()
        let answers = AsyncStream.makeStream(of: Erasure?.self)
        let group = ServiceGroup(
            services: [Erasing(sink: serialized, answers: answers.continuation)],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let stopped = Task { try await group.run() }
        let atStop = Erasure.failed("the server is stopping: ask again")
        for await answer in answers.stream {
            // At first it says that it has begun.
            guard let answer else {
                await group.triggerGracefulShutdown()
                continue
            }
            #expect(answer == atStop)
            break
        }
        #expect(
            await serialized.erase(Subject(tenant: "default", ids: ["subject-2"])).end() == atStop)
        delivery.cancel()
        _ = await delivery.value
        // Also with the sink to itself.
        #expect(
            await serialized.erase(Subject(tenant: "default", ids: ["subject-3"])).end() == atStop)
        try await stopped.value
    }
}

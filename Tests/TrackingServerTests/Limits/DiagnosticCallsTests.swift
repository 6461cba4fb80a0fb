// The turns of calls that record nothing: one has it, the others wait, and who ends leaves.
// `Task.immediate` runs up to the first suspension before it returns: so a call waits by then.
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import Pacing
@testable internal import ServerConfiguration
internal import Synchronization
internal import Testing
@testable internal import TrackingServer
internal import TrackingJournal

@Suite(.timeLimit(.minutes(10)))
struct DiagnosticCallsTests {
    private let lock = AsyncLock()
    private let counts = Counts()

    /// How many run now, ran at most at once, and are done.
    private final class Counts: Sendable {
        private let counts = Mutex((running: 0, most: 0, done: 0))

        var all: (running: Int, most: Int, done: Int) { self.counts.withLock { $0 } }

        func begin() {
            self.counts.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
        }

        func end() {
            self.counts.withLock {
                $0.running -= 1
                $0.done += 1
            }
        }

        /// A call that others could overtake.
        func serve() async {
            self.begin()
            for _ in 0..<5 { await Task.yield() }
            self.end()
        }
    }

    /// A call that keeps its turn until it is let go.
    private struct Holder {
        private let call: Task<Void, any Error>
        private let end: AsyncStream<Void>.Continuation

        init(_ lock: AsyncLock) {
            let (holding, end) = AsyncStream.makeStream(of: Void.self)
            self.end = end
            self.call = Task.immediate {
                try await lock.withCall(maxWaiting: 100) { for await _ in holding {} }
            }
        }

        func letGo() async throws {
            self.end.finish()
            try await self.call.value
        }
    }

    private func call() -> Task<Void, any Error> {
        Task.immediate {
            try await self.lock.withCall(maxWaiting: 100) { await self.counts.serve() }
        }
    }

    @Test("of the calls that record nothing one runs at a time, each in its turn")
    func alone() async throws {
        for call in (0..<100).map({ _ in self.call() }) { try await call.value }
        #expect(self.counts.all == (0, 1, 100))
    }

    @Test("a call whose task is cancelled while it waits leaves, and the next one has its turn")
    func cancelledWhileWaiting() async throws {
        let holder = Holder(self.lock)
        let (ended, next) = (self.call(), self.call())
        ended.cancel()
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await holder.letGo()
        try await next.value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("a call whose stream ends while it waits leaves, and the next one has its turn")
    func endedWhileWaiting() async throws {
        let holder = Holder(self.lock)
        let (ended, stream) = await withServerContextRPCCancellationHandle { stream in
            (self.call(), stream)
        }
        let next = self.call()
        stream.cancel()
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await holder.letGo()
        try await next.value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("a call that has ended before it comes is not served, and leaves the turn to others")
    func endedBefore() async throws {
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    try await self.lock.withCall(maxWaiting: 100) { await self.counts.serve() }
                }
                try await group.waitForAll()
            }
        }
        let ended = await withServerContextRPCCancellationHandle { stream in
            stream.cancel()
            return self.call()
        }
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await self.call().value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("no turn is lost between many calls that come, end and are served")
    func manyAtOnce() async throws {
        for _ in 0..<200 {
            let calls = (0..<20).map { _ in
                Task { try await self.lock.withCall(maxWaiting: 100) { await self.counts.serve() } }
            }
            for (number, call) in calls.enumerated() where number % 2 == 1 { call.cancel() }
            for call in calls { _ = await call.result }
        }
        try await self.call().value
        let counts = self.counts.all
        #expect(counts.running == 0 && counts.most == 1 && counts.done > 200 * 10)
    }

    @Test("as many calls wait as may, and one more is told to come back")
    func bound() async throws {
        let holder = Holder(self.lock)
        let waiting = (0..<100).map { _ in self.call() }
        let refused = self.call()
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        let last = self.call()
        try await holder.letGo()
        let error = await #expect(throws: GoogleRPCStatus.self) { try await refused.value }
        #expect(error?.details.compactMap(\.errorInfo).map(\.reason) == ["OVERLOADED"])
        for call in waiting.dropFirst() { try await call.value }
        try await last.value
        #expect(self.counts.all == (0, 1, 100))
    }

    @Test("a call that ends while it waits leaves, with its bytes")
    func bytes() async throws {
        let ingest = try Ingest.diskless()
        let allowance = try ingest.allowance(of: .standard)
        let request = RequestBuffer([UInt8](repeating: 0, count: 400))
        let holder = Holder(ingest.diagnosticLock)
        let call = Task.immediate {
            try await ingest.runDiagnostic(request, events: 1, allowance: allowance) { _ in
                await self.counts.serve()
            }
        }
        #expect(ingest.budget.bytesInFlight == 400)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(ingest.budget.bytesInFlight == 0)
        try await holder.letGo()
        #expect(self.counts.all == (0, 0, 0))
        await ingest.journal.close()
    }
}

// Who holds a lock, in which order, and what becomes of those that do not wait for it. A task that
// `Task.immediate` has begun is in the queue, and waits, once that returns.
internal import Pacing
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct AsyncLockTests {
    private let lock = AsyncLock()
    private let record = Record()

    /// Which tasks held the lock, and whether two did so at once.
    private final class Record: Sendable {
        private let state = Mutex((holders: [Int](), isHeld: false, hasOverlap: false))

        var holders: [Int] { self.state.withLock(\.holders) }
        var hasOverlap: Bool { self.state.withLock(\.hasOverlap) }

        /// Holds the lock over suspensions, in which others could overtake.
        func hold(_ number: Int) async {
            self.state.withLock { state in
                state.hasOverlap = state.hasOverlap || state.isHeld
                state.isHeld = true
                state.holders.append(number)
            }
            for _ in 0..<5 { await Task.yield() }
            self.state.withLock { $0.isHeld = false }
        }
    }

    /// Holds the lock once it is its turn; false if the task was cancelled before.
    private func hold(_ number: Int) async -> Bool {
        let place = self.lock.enqueue()
        defer { place.leave() }
        return await withTaskCancellationHandler {
            guard await place.acquire(), !place.isCancelled else { return false }
            await self.record.hold(number)
            return true
        } onCancel: {
            place.cancel()
        }
    }

    private func holder(_ number: Int) -> Task<Bool, Never> {
        Task.immediate { await self.hold(number) }
    }

    @Test("the lock passes on in the order in which it was asked for, to one at a time")
    func order() async {
        for holder in (0..<100).map(self.holder) { #expect(await holder.value) }
        #expect(self.record.holders == Array(0..<100))
        #expect(!self.record.hasOverlap)
    }

    @Test("a place that is cancelled while it waits leaves, and those behind it keep their order")
    func cancelledWhileWaiting() async {
        let holders = (0..<5).map(self.holder)
        holders[2].cancel()
        #expect(await !holders[2].value)
        for number in [0, 1, 3, 4] { #expect(await holders[number].value) }
        #expect(self.record.holders == [0, 1, 3, 4])
    }

    @Test("who enqueues while the lock is being passed on does not come first")
    func handedOver() async {
        let first = self.lock.enqueue()
        let waiting = self.holder(1)
        first.leave()
        let late = self.holder(2)
        #expect(await waiting.value)
        #expect(await late.value)
        #expect(self.record.holders == [1, 2])
    }

    @Test("a holder that is cancelled keeps the lock, and learns of it")
    func cancelledHolder() async {
        let place = self.lock.enqueue()
        #expect(!place.isCancelled)
        place.cancel()
        #expect(await place.acquire())
        #expect(place.isCancelled)
        let next = self.holder(1)
        #expect(self.record.holders.isEmpty)
        place.leave()
        #expect(await next.value)
    }

    @Test("a place that was cancelled before its task waits does not get the lock")
    func cancelledBefore() async {
        let (holder, place) = (self.lock.enqueue(), self.lock.enqueue())
        place.cancel()
        #expect(await !place.acquire())
        #expect(place.isCancelled)
        place.leave()
        holder.leave()
        #expect(await self.holder(1).value)
    }

    @Test("a place that is left before its task waits passes the lock on")
    func leftBefore() async {
        let (holder, place) = (self.lock.enqueue(), self.lock.enqueue())
        let last = self.holder(1)
        holder.leave()
        place.leave()
        #expect(await last.value)
    }

    @Test("no more wait than may; a place that was cancelled counts no more")
    func bound() throws {
        let holder = try #require(self.lock.enqueue(maxWaiting: 1))
        let waiting = try #require(self.lock.enqueue(maxWaiting: 1))
        #expect(self.lock.enqueue(maxWaiting: 1) == nil)
        waiting.cancel()
        let next = try #require(self.lock.enqueue(maxWaiting: 1))
        #expect(self.lock.enqueue(maxWaiting: 1) == nil)
        for place in [holder, waiting, next] { place.leave() }
        #expect(self.lock.enqueue(maxWaiting: 1) != nil)
    }

    @Test("the lock is lost by none of many tasks that come, are cancelled and hold it")
    func many() async {
        for _ in 0..<200 {
            let holders = (0..<20).map { number in Task { await self.hold(number) } }
            for holder in holders.suffix(10) { holder.cancel() }
            for holder in holders { _ = await holder.value }
        }
        #expect(await self.holder(0).value)
        #expect(!self.record.hasOverlap && self.record.holders.count > 200 * 10)
    }
}

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

    /// What streams are told apart by.
    private final class Stream: Sendable {}

    @Test("those that ask in lines have it in turns: by tenant, and then by stream")
    func turns() async {
        let streams = (0..<3).map { _ in Stream() }
        func holder(_ number: Int, _ tenant: UInt8, _ stream: Int) -> Task<Void, Never> {
            let line = TurnLine(tenant: [tenant], stream: ObjectIdentifier(streams[stream]))
            return Task.immediate {
                let place = self.lock.enqueue(in: line)
                defer { place.leave() }
                _ = await place.acquire()
                await self.record.hold(number)
            }
        }
        let holders = [
            holder(0, 1, 0), holder(1, 1, 0), holder(2, 1, 0), holder(3, 1, 1), holder(4, 1, 0),
            holder(5, 2, 2), holder(6, 2, 2), holder(7, 1, 1),
        ]
        for holder in holders { await holder.value }
        // The second tenant is served after the first one's first, then they alternate. Of the
        // first one's streams, the second is served before the first is again.
        #expect(self.record.holders == [0, 5, 3, 6, 1, 7, 2, 4])
        #expect(!self.record.hasOverlap)
    }

    @Test("who comes again does not come before those that have waited")
    func returning() async {
        let streams = (0..<2).map { _ in Stream() }
        let lines = streams.enumerated().map {
            TurnLine(tenant: [UInt8($0.offset)], stream: ObjectIdentifier($0.element))
        }
        var places = [self.lock.enqueue(in: lines[0]), self.lock.enqueue(in: lines[1])]
        var served: [Int] = []
        for _ in 0..<4 {
            for tenant in 0..<2 {
                let held = places[tenant]
                #expect(await held.acquire())
                served.append(tenant)
                places[tenant] = self.lock.enqueue(in: lines[tenant])
                held.leave()
            }
        }
        #expect(served == [0, 1, 0, 1, 0, 1, 0, 1])
        for place in places { place.leave() }
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

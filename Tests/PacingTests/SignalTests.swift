// What a signal remembers, and whom it wakes. `Task.immediate` runs up to the first suspension
// before it returns: so a task that waits does so by then.
internal import Pacing
internal import Synchronization
internal import Testing

/// A signal, and a number of items that its waiter takes.
private final class Mailbox: Sendable {
    let changed = Signal()
    private let items = Mutex(0)

    var count: Int { self.items.withLock { $0 } }

    func add() {
        self.items.withLock { $0 += 1 }
        self.changed.raise()
    }

    /// Takes so many items, waiting for each; returns early if the task is cancelled.
    func take(_ count: Int) async -> Int {
        var taken = 0
        await withTaskCancellationHandler {
            while taken < count, !Task.isCancelled {
                let new = self.items.withLock { items in
                    defer { items = 0 }
                    return items
                }
                taken += new
                if new == 0 { await self.changed.wait() }
            }
        } onCancel: {
            self.changed.raise()
        }
        return taken
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SignalTests {
    private let mailbox = Mailbox()

    @Test("a signal that nobody waits for ends the next wait, and only that one")
    func remembered() async {
        self.mailbox.changed.raise()
        self.mailbox.changed.raise()
        await self.mailbox.changed.wait()
        let waiter = Task.immediate {
            await self.mailbox.changed.wait()
            self.mailbox.add()
        }
        #expect(self.mailbox.count == 0)
        self.mailbox.changed.raise()
        await waiter.value
        #expect(self.mailbox.count == 1)
    }

    @Test("a waiting task is woken, and the signal that woke it is not remembered")
    func woken() async {
        for _ in 1...2 {
            let waiter = Task.immediate { await self.mailbox.changed.wait() }
            self.mailbox.changed.raise()
            await waiter.value
        }
    }

    @Test("no wake-up is lost between a look at the state and the wait")
    func noneLost() async {
        let taker = Task { await self.mailbox.take(20_000) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<5000 { self.mailbox.add() } }
            }
        }
        #expect(await taker.value == 20_000)
    }

    @Test("a wait whose task is cancelled ends where the signal is raised for that")
    func cancelled() async {
        let waiting = Task.immediate { await self.mailbox.take(1) }
        waiting.cancel()
        #expect(await waiting.value == 0)
    }

    @Test("a wait ends once, whether it is cancelled or the signal is raised first")
    func cancelledWhileRaised() async {
        for _ in 0..<2000 {
            let mailbox = Mailbox()
            let taker = Task { await mailbox.take(1) }
            async let added: Void = mailbox.add()
            taker.cancel()
            await added
            #expect(await taker.value <= 1)
        }
    }
}

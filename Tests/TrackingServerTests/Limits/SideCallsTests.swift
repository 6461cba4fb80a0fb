internal import Synchronization
internal import Testing

@testable internal import TrackingServer

struct SideCallsTests {
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
    }

    @Test("of the calls that wait for the journal one runs at a time, each in its turn")
    func alone() async {
        let (calls, counts) = (SideCalls(), Counts())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await calls.alone {
                        counts.begin()
                        for _ in 0..<5 { await Task.yield() }
                        counts.end()
                    }
                }
            }
        }
        #expect(counts.all == (0, 1, 100))
    }
}

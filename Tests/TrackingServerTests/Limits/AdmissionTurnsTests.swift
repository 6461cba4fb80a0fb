// Who admits requests at once, and in which order the others do. `Task.immediate` runs up to the
// first suspension before it returns: so a task waits by then.
internal import Pacing
internal import Synchronization
internal import Testing
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct AdmissionTurnsTests {
    private let turns = AdmissionTurns(2)
    private let record = Record()

    /// What streams are told apart by.
    private final class Stream: Sendable {}

    /// Who has had a turn, and how many had one at once.
    private final class Record: Sendable {
        private let state = Mutex((names: [String](), held: 0, most: 0))

        var names: [String] { self.state.withLock(\.names) }
        var most: Int { self.state.withLock(\.most) }

        func begin(_ name: String) {
            self.state.withLock { state in
                state.names.append(name)
                state.held += 1
                state.most = max(state.most, state.held)
            }
        }

        func end() { self.state.withLock { $0.held -= 1 } }
    }

    private func line(_ stream: Stream, _ tenant: UInt8) -> TurnLine {
        TurnLine(tenant: [tenant], stream: ObjectIdentifier(stream))
    }

    @Test("turns are taken at once while some are free, and wait for one that is given back then")
    func taken() async {
        let stream = Stream()
        #expect(self.turns.takeNow() && self.turns.takeNow() && !self.turns.takeNow())
        let waiting = Task.immediate { await self.turns.take(in: self.line(stream, 1), bytes: 1) }
        #expect(self.turns.waiters == 1)
        self.turns.giveBack()
        await waiting.value
        #expect(self.turns.free == 0 && self.turns.waiters == 0)
        self.turns.giveBack()
        self.turns.giveBack()
        #expect(self.turns.free == 2)
        withExtendedLifetime(stream) {}
    }

    @Test("a tenant's request does not wait for those that another has waiting on many streams")
    func neighbour() async {
        let (turns, streams) = (AdmissionTurns(1), (0..<21).map { _ in Stream() })
        #expect(turns.takeNow())
        let tasks = streams.enumerated().map { number, stream in
            let (name, tenant) = number < 20 ? ("loud", UInt8(1)) : ("quiet", UInt8(2))
            return Task.immediate {
                let line = self.line(stream, tenant)
                await turns.withTurn(in: line, bytes: 500_000 / Int(tenant)) {
                    self.record.begin(name)
                    self.record.end()
                }
            }
        }
        turns.giveBack()
        for task in tasks { await task.value }
        #expect(self.record.names.first == "quiet")
        #expect(self.record.names.count == 21 && self.record.most == 1)
    }

    @Test("no turn is lost between many that take, wait and give back")
    func manyAtOnce() async {
        let streams = (0..<20).map { _ in Stream() }
        await withTaskGroup(of: Void.self) { group in
            for (number, stream) in streams.enumerated() {
                let line = self.line(stream, UInt8(number % 3))
                group.addTask {
                    for count in 0..<500 {
                        await self.turns.withTurn(in: line, bytes: count) {
                            self.record.begin("")
                            self.record.end()
                        }
                        if count % 7 == 0 { await Task.yield() }
                    }
                }
            }
        }
        #expect(self.record.names.count == 10_000 && self.record.most <= 2)
        #expect(self.turns.free == 2)
        withExtendedLifetime(streams) {}
    }
}

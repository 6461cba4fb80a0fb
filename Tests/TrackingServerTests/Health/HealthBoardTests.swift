// The statuses that the board reports to its watchers.
internal import GRPCCore
internal import GRPCProtobuf
internal import SightlineProtos
internal import Synchronization
internal import Testing

@testable internal import TrackingServer

struct HealthBoardTests {
    /// A journal that takes events, or does not.
    private final class FakeJournal: Sendable {
        let isTaking = Mutex(true)
    }

    private let journal = FakeJournal()

    private func board(maxWatchers: Int = 3) -> HealthBoard {
        let journal = self.journal
        return HealthBoard(maxWatchers: maxWatchers) { journal.isTaking.withLock { $0 } }
    }

    @Test("a service is serving while the journal takes events", arguments: HealthBoard.services)
    func journal(_ service: String) {
        let board = self.board()
        #expect(board.status(of: service) == .serving)
        self.journal.isTaking.withLock { $0 = false }
        #expect(board.status(of: service) == .notServing)
        self.journal.isTaking.withLock { $0 = true }
        #expect(board.status(of: service) == .serving)
    }

    @Test("a service that is not there has no status", arguments: ["x", "grpc.health.v1.Health"])
    func unknown(_ service: String) {
        #expect(self.board().status(of: service) == nil)
    }

    @Test("the server is ready once each of its ports listens")
    func ports() {
        let board = HealthBoard(maxWatchers: 1, ports: [.grpc, .http]) { true }
        #expect(board.notReadyReasons.count == 2)
        board.beginListening(.http)
        #expect(board.notReadyReasons == ["the gRPC port does not listen yet"])
        board.beginListening(.grpc)
        #expect(board.notReadyReasons == [])
    }

    @Test("from the drain on nothing is serving, whatever the journal says")
    func drain() async {
        let board = self.board()
        await board.beginDraining()
        #expect(HealthBoard.services.map { board.status(of: $0) } == [.notServing, .notServing])
    }

    @Test("a watch is told the newest status, and in the drain that it is the last")
    func watch() async throws {
        let board = self.board()
        let (id, statuses) = try board.watch("")
        var seen = statuses.makeAsyncIterator()
        #expect(await seen.next() == .serving)
        self.journal.isTaking.withLock { $0 = false }
        board.updateWatchers()
        self.journal.isTaking.withLock { $0 = true }
        board.updateWatchers()
        // A slow watcher skips outdated statuses.
        #expect(await seen.next() == .serving)
        async let drained: Void = board.beginDraining()
        #expect(await seen.next() == .notServing)
        #expect(await seen.next() == nil)
        board.endWatch(id)
        await drained
    }

    @Test("who begins to watch during the drain is told so, and no more")
    func lateWatch() async throws {
        let board = self.board()
        await board.beginDraining()
        var seen = try board.watch("").statuses.makeAsyncIterator()
        #expect(await seen.next() == .notServing)
        #expect(await seen.next() == nil)
    }

    @Test("an unknown service may be watched, and stays unknown in the drain")
    func unknownWatch() async throws {
        let board = self.board()
        var seen = try board.watch("x").statuses.makeAsyncIterator()
        #expect(await seen.next() == .serviceUnknown)
        await board.beginDraining()
        #expect(await seen.next() == nil)
    }

    @Test("watches are taken up to the limit, and again when one has ended")
    func limit() throws {
        let board = self.board(maxWatchers: 2)
        let first = try board.watch("").id
        _ = try board.watch("")
        let error = #expect(throws: GoogleRPCStatus.self) { _ = try board.watch("") }
        #expect(error?.code == .resourceExhausted)
        board.endWatch(first)
        _ = try board.watch("")
    }

    @Test("a peer with all watches leaves another its half, at the limit and not beyond")
    func peers() throws {
        let board = self.board(maxWatchers: 4)
        for _ in 0..<4 { _ = try board.watch("", from: [1]) }
        let own = try (0..<2).map { _ in try board.watch("", from: [2]).id }
        for peer in [[UInt8(1)], [2]] {
            #expect(throws: GoogleRPCStatus.self) { _ = try board.watch("", from: peer) }
        }
        board.endWatch(own[0])
        _ = try board.watch("", from: [2])
    }
}

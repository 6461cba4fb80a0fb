// What counts as durable once a sync has failed: the system tells of that once.
@testable internal import SightlineClient
internal import Testing

struct SpoolSyncTests {
    private static let failure = SpoolError.failed(
        operation: "sync", file: "1.spool", reason: "an I/O error")

    private let disk = ForgetfulDisk(seed: 0)

    /// A log in whose files an event has no room beside another.
    private func log(maxBytes: Int = 1 << 20) throws -> SpoolLog {
        var log = SpoolLog(disk: self.disk, maxBytes: maxBytes, segmentBytes: 1)
        #expect(try log.recover() == [])
        return log
    }

    private func state(maxBytes: Int = 1 << 20) throws -> ClientState {
        let configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
        let outbox = Outbox(
            limits: configuration.limits, linger: .zero, answerTimeout: .seconds(1), jitter: { 0 })
        var state = ClientState(configuration, outbox: outbox)
        state.spool = try self.log(maxBytes: maxBytes)
        return state
    }

    @Test("an event whose file was not synced before the next one is not durable")
    func nextFile() throws {
        var log = try self.log()
        _ = try log.append([1])
        self.disk.failNextSync()
        #expect(throws: Self.failure) { try log.append([2]) }
        let count = log.nextSync().count
        log.noteSync(through: count, failure: nil)
        #expect(count == 1 && log.syncedCount == 0 && log.failure == Self.failure)
    }

    @Test("a sync that works after one that failed makes nothing durable")
    func laterSync() throws {
        var log = try self.log()
        _ = try log.append([1])
        log.noteSync(through: 1, failure: Self.failure)
        log.noteSync(through: 1, failure: nil)
        #expect(throws: Self.failure) { try log.close() }
        #expect(log.syncedCount == 0)
    }

    @Test("who waits for a sync is told that the close has failed", arguments: [false, true])
    func close(fails: Bool) throws {
        var state = try self.state()
        _ = try state.take([1], now: { .zero })
        if fails { self.disk.failNextSync() }
        #expect(state.closeSpool() == (fails ? Self.failure : nil))
        let outcome = state.noteSync(through: .max, failure: nil)
        #expect(outcome.syncedCount == (fails ? 0 : .max))
        #expect(outcome.end == (fails ? Self.failure : nil))
    }

    @Test("nobody waits for room in a spool that has failed")
    func room() throws {
        var state = try self.state(maxBytes: 100)
        _ = try state.take([UInt8](repeating: 0, count: 60), now: { .zero })
        // It has to wait for room.
        _ = try state.take([1], now: { .zero })
        #expect(state.takeRoomsOfFailedSpool().isEmpty)
        _ = state.noteSync(through: 0, failure: Self.failure)
        #expect(state.takeRoomsOfFailedSpool().count == 1)
        #expect(throws: Self.failure) { try state.take([1], now: { .zero }) }
    }
}

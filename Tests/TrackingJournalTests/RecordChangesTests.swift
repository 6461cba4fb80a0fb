internal import Testing
@testable internal import TrackingJournal

struct RecordChangesTests {
    @Test(
        "a body has the ledger's rows behind their length, and then the window's changes",
        arguments: [
            ([], [], []), ([1, 0, 0], [], [1, 0, 0]), ([0, 0, 0, 0], [], []),
            ([0, 0, 0, 0, 7], [], [7]), ([2, 0, 0, 0, 5, 6, 7], [5, 6], [7]),
            ([9, 0, 0, 0, 5], [5], []),
        ])
    func parts(_ body: [UInt8], _ ledger: [UInt8], _ keys: [UInt8]) {
        let changes = RecordChanges(body, hasLedger: true)
        #expect(Array(changes.ledger) == ledger)
        #expect(Array(changes.keys) == keys)
    }

    @Test("a body without rows of the ledger is changes of the window alone")
    func keysAlone() {
        let changes = RecordChanges([0, 0, 0, 0, 7], hasLedger: false)
        #expect(changes.ledger.isEmpty)
        #expect(Array(changes.keys) == [0, 0, 0, 0, 7])
    }
}

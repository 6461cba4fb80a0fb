// What a sink may ask of a batch, of a subject and of itself.
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct SinkTests {
    private struct PlainSink: Sink {
        let name = "plain"
        func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }
    }

    @Test("a sink that says nothing of its batches takes a full group of the journal")
    func maxBatch() {
        #expect(PlainSink().maxBatch == BatchLimit(hits: 1000, bytes: 393_216))
    }

    @Test(
        "a sink that has the groups up to a sequence is given those after it alone",
        arguments: [(10, 2), (11, 0), (12, 0)])
    func after(_ sequence: Int64, _ count: Int) throws {
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)], sequence: 11)
        var positions: [Int] = []
        try batch.forEach(after: sequence) { position, _ in positions.append(position) }
        #expect(positions == Array(0..<count))
    }

    @Test(
        "a subject is known by each of its ids, byte for byte, and an empty id is nobody's",
        arguments: [
            ("a", true), ("hash", true), ("", false), ("b", false),
            // One character in two spellings: other bytes.
            ("caf\u{e9}", true), ("cafe\u{301}", false),
        ])
    func subject(_ id: String, isKnown: Bool) {
        let subject = Subject(tenant: "default", ids: ["a", "hash", "", "caf\u{e9}"])
        #expect(id.withBytes { subject.has($0) } == isKnown)
    }
}

// Batches at their limits and one beyond.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct BatcherTests {
    private func ids(_ batch: Batcher.Batch) -> [String]? {
        if case .events(let events) = batch { return events.map(\.event.eventID) }
        return nil
    }

    private func batcher(_ limits: RequestLimits, _ events: [OutgoingEvent]) -> Batcher {
        var batcher = Batcher(limits: limits)
        for event in events { batcher.add(event) }
        return batcher
    }

    @Test("a batch is full at maxEvents, and no earlier")
    func count() throws {
        let limits = RequestLimits(maxEvents: 3)
        var two = self.batcher(limits, try TestEvents.events(0..<2))
        #expect(self.ids(two.take(flush: false)) == nil)
        #expect(self.ids(two.take(flush: true)) == ["e0", "e1"])
        var four = self.batcher(limits, try TestEvents.events(0..<4))
        #expect(self.ids(four.take(flush: false)) == ["e0", "e1", "e2"])
        #expect(self.ids(four.take(flush: false)) == nil)
        #expect(self.ids(four.take(flush: true)) == ["e3"])
        #expect(self.ids(four.take(flush: true)) == nil)
    }

    @Test("a request has exactly maxRequestBytes at most", arguments: [0, 1])
    func bytes(missing: Int) throws {
        let events = try TestEvents.events(0..<3)
        let byteCount = events.reduce(RequestLimits.requestOverheadByteCount) {
            $0 + $1.requestByteCount
        }
        var batcher = self.batcher(
            RequestLimits(maxRequestBytes: byteCount - missing), events)
        #expect(self.ids(batcher.take(flush: true))?.count == 3 - missing)
    }

    @Test("the overhead covers the longest sequence and the options")
    func overhead() throws {
        var request = Sightline_V1_StreamEventsRequest()
        request.sequence = UInt64.max
        request.options.reportAccepted = true
        let events = try TestEvents.events(0..<20)
        request.events = events.map(\.event)
        let bytes: [UInt8] = try request.serializedBytes()
        let counted = events.reduce(RequestLimits.requestOverheadByteCount) {
            $0 + $1.requestByteCount
        }
        #expect(bytes.count <= counted)
    }

    @Test(
        "an event's bytes are counted exactly", arguments: [0, 1, 123, 124, 125, 126, 127, 20_000])
    func eventBytes(idByteCount: Int) throws {
        let event = try TestEvents.event(String(repeating: "x", count: idByteCount))
        var request = Sightline_V1_StreamEventsRequest()
        request.events = [event.event]
        let bytes: [UInt8] = try request.serializedBytes()
        #expect(event.requestByteCount == bytes.count)
    }

    @Test("an event that just fits goes, and one byte more does not")
    func largest() throws {
        let event = try TestEvents.event("e0")
        let fitting = event.requestByteCount + RequestLimits.requestOverheadByteCount
        var enough = self.batcher(RequestLimits(maxRequestBytes: fitting), [event])
        #expect(self.ids(enough.take(flush: true)) == ["e0"])
        var tooFew = self.batcher(RequestLimits(maxRequestBytes: fitting - 1), [event])
        guard case .tooLarge = tooFew.take(flush: true) else {
            Issue.record("it does not fit")
            return
        }
        #expect(tooFew.waiting.isEmpty)
    }

    @Test("two batches may wait, and what is put back goes first")
    func room() throws {
        let events = try TestEvents.events(0..<4)
        var batcher = self.batcher(RequestLimits(maxEvents: 2), Array(events[..<3]))
        #expect(batcher.hasRoom)
        batcher.add(events[3])
        #expect(!batcher.hasRoom)
        guard case .events(let taken) = batcher.take(flush: false) else {
            Issue.record("a batch waits")
            return
        }
        #expect(batcher.hasRoom)
        batcher.putBack(taken)
        #expect(batcher.waiting.map(\.event.eventID) == ["e0", "e1", "e2", "e3"])
    }
}

// Batches of events by chance.
package import SinkKit
internal import TestSupport
@testable internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// Makes batches that the journal can hold, also of what admission would refuse: an event that is
/// none has an index that says nothing.
package struct BatchGenerator {
    private var events: EventGenerator

    package init(seed: UInt64) { self.events = EventGenerator(seed: seed) }

    /// A batch of two requests.
    package mutating func batch(events count: Int) -> HitBatch {
        let payload = self.request(events: count / 2) + self.request(events: count - count / 2)
        return HitBatch(journal: "j", sequence: 1, payload: payload)
    }

    private mutating func request(events count: Int) -> [UInt8] {
        var entries: [UInt8] = []
        for _ in 0..<count {
            let event =
                self.events.dice.chance(60) ? self.events.orderlyEvent() : self.events.event()
            event.withUnsafeBytes { self.append($0, to: &entries) }
        }
        let tenant = String(decoding: self.events.string(), as: UTF8.self)
        let tracestate = String(decoding: self.events.string(), as: UTF8.self)
        let random = TraceContext.random(isSampled: true, using: &self.events.dice)
        let trace = TraceContext(
            traceID: random.traceID, spanID: random.spanID, isSampled: true,
            tracestate: tracestate)
        var header = HitEncoding.header(
            entryCount: count, entriesBytes: entries.count, receiveTime: self.receiveTime(),
            tenant: self.events.dice.chance(90)
                ? tenant : tenant + String(repeating: "ü", count: 128),
            trace: trace)
        if self.events.dice.chance(5) {
            // No traceparent: 0 bytes instead of 55, which stand between the other two.
            let start = HitEncoding.headerBytes + Int(header[16])
            header[17] = 0
            header.removeSubrange(start..<start + TraceContext.traceparentBytes)
        }
        return header + entries
    }

    private mutating func append(_ event: Bytes, to entries: inout [UInt8]) {
        let kinds = (0...self.events.dice.below(3)).reduce(into: UInt16(0)) { bits, _ in
            bits |= 1 << UInt16(self.events.dice.pick(HitKind.allCases).rawValue)
        }
        let warnings =
            self.events.dice.chance(50)
            ? 0 : UInt16.random(in: 0...(.max), using: &self.events.dice)
        let key = HitKey(high: self.events.dice.next(), low: self.events.dice.next())
        let product = self.events.dice.pick([Product.standard, .classic, .firebase])
        let index =
            (try? JournalEvent(parsing: event, key: key, kinds: [], warnings: []))?.index
            ?? EventIndex()
        entries.appendEntry(
            key: key,
            facts: HitEncoding.facts(product, nil, self.events.dice.pick(EventSource.allCases)),
            kinds: HitKinds(rawValue: kinds), warnings: Warnings(rawValue: warnings), index: index,
            event: event)
    }

    /// Mostly today's time; also the bounds of Timestamp, and beyond them.
    private mutating func receiveTime() -> Int64 {
        guard self.events.dice.chance(10) else {
            return TestHits.receiveTime + Int64(self.events.dice.below(1_000_000))
        }
        return self.events.dice.pick([
            0, -1, -1_000_000, 253_402_300_799_999_999, 253_402_300_800_000_000,
            -62_135_596_800_000_000, -62_135_596_801_000_000, .max, .min, 1_000_000, 1_001_000,
        ])
    }
}

// What a span keeps, at its limits and one beyond.
@testable internal import Telemetry
internal import Testing
internal import Tracing

struct SpanRecordTests {
    private var limits: SpanLimits {
        var limits = SpanLimits()
        (limits.attributes, limits.textCharacters, limits.events, limits.links) = (2, 4, 2, 2)
        return limits
    }

    @Test("attributes up to the limit are kept; one beyond is left out, and counted")
    func attributes() {
        var record = TestSpans.record(limits: self.limits)
        record.set(["b": 1, "a": 2])
        #expect(record.attributes.list.map(\.name) == ["a", "b"])
        #expect(record.attributes.dropped == 0)
        record.set(["b": 1, "a": 2, "c": 3])
        #expect(record.attributes.list.map(\.name) == ["a", "b"])
        #expect(record.attributes.dropped == 1)
    }

    @Test("texts are cut at the limit, in arrays and of descriptions too")
    func texts() {
        let rows: [(SpanAttribute, SpanAttribute)] = [
            (.string("abcd"), .string("abcd")), (.string("abcde"), .string("abcd")),
            (.string("äöüßé"), .string("äöüß")),
            (.stringArray(["abcdef", "a"]), .stringArray(["abcd", "a"])),
            (.stringConvertible(123456), .string("1234")),
            (.stringConvertibleArray([123456, 1]), .stringArray(["1234", "1"])),
            (.int64(123_456), .int64(123_456)), (.bool(true), .bool(true)),
        ]
        for (value, kept) in rows {
            var record = TestSpans.record(limits: self.limits)
            record.set(SpanAttributes(["a": value]))
            #expect(record.attributes.list.first?.value == kept)
        }
    }

    @Test("an attribute without a name is none")
    func nameless() {
        var record = TestSpans.record()
        record.set(["": 1])
        #expect(record.attributes.list.isEmpty && record.attributes.dropped == 0)
    }

    @Test("the first events are kept, with as many attributes as a span; the rest is counted")
    func events() {
        var record = TestSpans.record(limits: self.limits)
        for name in ["a", "b", "c"] {
            record.add(SpanEvent(name: name, attributes: ["1": 1, "2": 2, "3": 3]))
        }
        #expect(record.events.map(\.name) == ["a", "b"])
        #expect(record.droppedEvents == 1)
        #expect(record.events.allSatisfy { $0.attributes.dropped == 1 })
    }

    @Test("the first links are kept, without their tracestate; the rest is counted")
    func links() {
        var record = TestSpans.record(limits: self.limits)
        for id: UInt64 in 1...4 { record.add(TestSpans.link(id, state: "a=b")) }
        #expect(record.links.map(\.context) == [TestSpans.context(1), TestSpans.context(2)])
        #expect(record.droppedLinks == 2)
    }

    @Test("a link to nothing is none")
    func emptyLink() {
        var record = TestSpans.record()
        record.add(SpanLink(context: .topLevel, attributes: [:]))
        #expect(record.links.isEmpty && record.droppedLinks == 0)
    }

    @Test("a success is final, and an error is not silenced")
    func status() {
        var record = TestSpans.record()
        record.set(SpanStatus(code: .error, message: "first"))
        record.set(SpanStatus(code: .error, message: "second"))
        #expect(record.status?.message == "second")
        record.set(SpanStatus(code: .ok))
        record.set(SpanStatus(code: .error))
        #expect(record.status?.code == .ok)
    }

    @Test("a span never ends before it starts, whatever the clock does meanwhile")
    func end() {
        var record = TestSpans.record()
        record.end(at: 999)
        #expect(record.endTime == 1000)
        record.end(at: 1001)
        #expect(record.endTime == 1001)
    }
}

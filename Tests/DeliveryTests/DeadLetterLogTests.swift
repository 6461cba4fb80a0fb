// Which refused hits are logged, and how often.
@testable internal import Delivery
internal import Testing

struct DeadLetterLogTests {
    private typealias Record = DeadLetterLog.Record
    private static let start: Int64 = 1_800_000_000_000_000

    @Test("each reason of a batch is logged with its number and its first place")
    func reasons() {
        let records = DeadLetterLog().note(
            [4: "too large", 2: "no such topic", 3: "too large"], at: Self.start)
        #expect(records == [Record(letters: 1, position: 2), Record(letters: 2, position: 3)])
    }

    @Test("a reason comes again after a minute, with what was held back, and not before")
    func interval() {
        let log = DeadLetterLog()
        #expect(log.note([0: "no"], at: Self.start).count == 1)
        #expect(log.note([0: "no", 1: "no"], at: Self.start + DeadLetterLog.interval - 1).isEmpty)
        #expect(
            log.note([5: "no"], at: Self.start + DeadLetterLog.interval)
                == [Record(letters: 3, position: 5)])
        #expect(log.note([0: "no"], at: Self.start + DeadLetterLog.interval + 1).isEmpty)
    }

    @Test("a clock that was set back silences no reason")
    func clock() {
        let log = DeadLetterLog()
        #expect(log.note([0: "no"], at: Self.start).count == 1)
        #expect(log.note([0: "no"], at: Self.start - 1).count == 1)
    }

    @Test("eight reasons are told apart, those beyond count as one, and quiet ones make room")
    func limit() {
        let log = DeadLetterLog()
        func reasons(_ numbers: Range<Int>) -> [Int: String] {
            Dictionary(uniqueKeysWithValues: numbers.map { ($0, "reason \($0)") })
        }
        #expect(log.note(reasons(0..<DeadLetterLog.maxReasons), at: Self.start).count == 8)
        #expect(log.note(reasons(8..<11), at: Self.start) == [Record(letters: 3, position: 8)])
        #expect(log.note(reasons(20..<21), at: Self.start).isEmpty)
        let later = Self.start + DeadLetterLog.interval
        #expect(log.note(reasons(30..<33), at: later).map(\.letters) == [1, 1, 1])
    }

    @Test("reasons are told apart by their bytes, and by no more of them than the limit")
    func bytes() {
        let log = DeadLetterLog()
        #expect(log.note([0: "caf\u{e9}", 1: "cafe\u{301}"], at: Self.start).count == 2)
        let long = String(repeating: "x", count: DeadLetterLog.reasonBytes - 1)
        #expect(log.note([0: long + "a", 1: long + "b"], at: Self.start).count == 2)
        #expect(log.note([0: long + "xa", 1: long + "xb"], at: Self.start).count == 1)
    }
}

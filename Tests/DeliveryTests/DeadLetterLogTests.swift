// Which refused hits are logged, and how often.
@testable internal import Delivery
internal import TestSupport
internal import Testing

struct DeadLetterLogTests {
    private typealias Record = DeadLetterLog.Record
    private static let start: Int64 = 1_800_000_000_000_000

    /// Notes a batch whose groups have the numbers of their positions.
    private func note(
        _ log: DeadLetterLog, _ reasons: [Int: String], _ microseconds: Int64 = 0
    ) -> [Record] {
        log.note(reasons, at: Self.start + microseconds) { Int64($0) }
    }

    @Test("each reason of a batch is logged with its number and its first group")
    func reasons() {
        let records = self.note(
            DeadLetterLog(), [4: "too large", 2: "no such topic", 3: "too large"])
        #expect(records == [Record(letters: 1, sequence: 2), Record(letters: 2, sequence: 3)])
    }

    @Test("a reason comes again after a minute, with what was held back, and not before")
    func interval() {
        let log = DeadLetterLog()
        let minute = DeadLetterLog.interval
        #expect(self.note(log, [0: "no"]).count == 1)
        #expect(self.note(log, [3: "no", 4: "no"], minute - 1).isEmpty)
        #expect(self.note(log, [5: "no"], minute) == [Record(letters: 3, sequence: 3)])
        #expect(self.note(log, [0: "no"], minute + 1).isEmpty)
    }

    @Test("what was held back is told after the minute, whether its reason comes again or not")
    func heldBack() {
        let log = DeadLetterLog()
        let minute = DeadLetterLog.interval
        _ = self.note(log, [0: "no", 1: "never"])
        #expect(self.note(log, [2: "no", 3: "no", 4: "never"], 1).isEmpty)
        #expect(self.note(log, [:], minute - 1).isEmpty)
        #expect(
            self.note(log, [9: "never"], minute)
                == [Record(letters: 2, sequence: 2), Record(letters: 2, sequence: 4)])
        #expect(self.note(log, [10: "never"], minute + 1).isEmpty)
        #expect(self.note(log, [:], 2 * minute) == [Record(letters: 1, sequence: 10)])
        #expect(self.note(log, [:], 3 * minute).isEmpty)
    }

    @Test("what was held back is told at the stop, once")
    func rest() {
        let log = DeadLetterLog()
        _ = self.note(log, [0: "no", 1: "never"])
        _ = self.note(log, [7: "no", 5: "never", 6: "never"], 1)
        #expect(log.rest() == [Record(letters: 2, sequence: 5), Record(letters: 1, sequence: 7)])
        #expect(log.rest().isEmpty)
    }

    @Test("the numbers of all records add up to the letters, whatever reasons come and when")
    func sum() {
        let log = DeadLetterLog()
        var generator = Dice(seed: 1)
        var (now, letters, told) = (Int64(0), 0, 0)
        for _ in 0..<2000 {
            now += Int64.random(in: -1_000_000...30_000_000, using: &generator)
            let count = Int.random(in: 0...12, using: &generator)
            let reasons = (0..<count).map {
                ($0, "reason \(Int.random(in: 0..<30, using: &generator))")
            }
            letters += count
            told += self.note(log, Dictionary(uniqueKeysWithValues: reasons), now)
                .map(\.letters).reduce(0, +)
        }
        #expect(told + log.rest().map(\.letters).reduce(0, +) == letters)
    }

    @Test("a clock that was set back silences no reason")
    func clock() {
        let log = DeadLetterLog()
        #expect(self.note(log, [0: "no"]).count == 1)
        #expect(self.note(log, [0: "no"], -1).count == 1)
    }

    @Test("eight reasons are told apart, those beyond count as one, and quiet ones make room")
    func limit() {
        let log = DeadLetterLog()
        func reasons(_ numbers: Range<Int>) -> [Int: String] {
            Dictionary(uniqueKeysWithValues: numbers.map { ($0, "reason \($0)") })
        }
        #expect(self.note(log, reasons(0..<DeadLetterLog.maxReasons)).count == 8)
        #expect(self.note(log, reasons(8..<11)) == [Record(letters: 3, sequence: 8)])
        #expect(self.note(log, reasons(20..<21)).isEmpty)
        let later = self.note(log, reasons(30..<33), DeadLetterLog.interval)
        #expect(later.map(\.letters) == [1, 1, 1, 1], "the last are the others, held back")
    }

    @Test("reasons are told apart by their bytes, and by no more of them than the limit")
    func bytes() {
        let log = DeadLetterLog()
        #expect(self.note(log, [0: "caf\u{e9}", 1: "cafe\u{301}"]).count == 2)
        let long = String(repeating: "x", count: DeadLetterLog.reasonBytes - 1)
        #expect(self.note(log, [0: long + "a", 1: long + "b"]).count == 2)
        #expect(self.note(log, [0: long + "xa", 1: long + "xb"]).count == 1)
    }
}

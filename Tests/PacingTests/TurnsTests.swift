// Whose turn it is: the order within a stream, and what each line has of the whole.
@testable internal import Pacing
internal import TestSupport
internal import Testing

struct TurnsTests {
    /// What streams are told apart by.
    private final class Stream {}

    private struct Item: Equatable {
        let tenant: UInt8
        let stream: Int
        let number: Int
        let cost: Int
    }

    /// Turns of streams, each of which numbers its items.
    private struct Waiting {
        private var turns = Turns<Item>()
        private var numbers: [Int]
        private let streams: [Stream]

        init(streams: Int) {
            self.streams = (0..<streams).map { _ in Stream() }
            self.numbers = Array(repeating: 0, count: streams)
        }

        var isEmpty: Bool { self.turns.isEmpty }

        mutating func append(_ tenant: UInt8, _ stream: Int, cost: Int) {
            self.numbers[stream] += 1
            let line = TurnLine(tenant: [tenant], stream: ObjectIdentifier(self.streams[stream]))
            self.turns.append(
                Item(tenant: tenant, stream: stream, number: self.numbers[stream], cost: cost),
                in: line, cost: cost)
        }

        mutating func popFirst() -> Item? { self.turns.popFirst() }

        /// The streams of the next items.
        mutating func streams(ofNext count: Int) -> [Int] {
            (0..<count).compactMap { _ in self.popFirst()?.stream }
        }
    }

    @Test("a lone stream has all turns, in its order, whatever its items cost")
    func lone() {
        var waiting = Waiting(streams: 1)
        for cost in [5, 1, 100, 0, 7] { waiting.append(1, 0, cost: cost) }
        let numbers = (0..<7).map { _ in waiting.popFirst()?.number }
        #expect(numbers == [1, 2, 3, 4, 5, nil, nil])
        #expect(waiting.isEmpty)
    }

    @Test("a small item of another tenant is next, however much waits, and so is one of the same")
    func neighbour() {
        for tenant in [UInt8(1), 2] {
            var waiting = Waiting(streams: 5)
            for stream in 0..<4 {
                for _ in 0..<64 { waiting.append(1, stream, cost: 135_000) }
            }
            for _ in 0..<20 { _ = waiting.popFirst() }
            waiting.append(tenant, 4, cost: 300)
            let next = waiting.streams(ofNext: 1)
            #expect(next == [4])
        }
    }

    @Test(
        "streams of one tenant, and tenants, have turns one after the other where items are equal")
    func rounds() {
        var waiting = Waiting(streams: 4)
        for stream in 0..<3 { for _ in 0..<3 { waiting.append(1, stream, cost: 10) } }
        let first = waiting.streams(ofNext: 4)
        #expect(first == [0, 1, 2, 0])
        // The second tenant comes later, and has every other turn from then on.
        for _ in 0..<3 { waiting.append(2, 3, cost: 10) }
        let next = waiting.streams(ofNext: 6)
        #expect(next.filter { $0 == 3 }.count == 3)
        #expect(next.filter { $0 != 3 } == [1, 2, 0])
        let last = waiting.streams(ofNext: 9)
        #expect(last == [1, 2])
    }

    @Test("who always has something waiting gets its part, up to one item, and each in its order")
    func parts() throws {
        var dice = Dice(seed: Dice.runSeed)
        let (tenants, most) = (3, 1000)
        // The first tenant has one stream, the second three, the third five.
        let streams = (0..<tenants).map { tenant in
            (0..<2 * tenant + 1).map { tenant * tenant + $0 }
        }
        var waiting = Waiting(streams: 9)
        func append(_ tenant: Int, _ stream: Int) {
            waiting.append(UInt8(tenant), stream, cost: dice.below(most) + 1)
        }
        for tenant in 0..<tenants {
            for stream in streams[tenant] { for _ in 0..<5 { append(tenant, stream) } }
        }
        var (ofTenant, ofStream) = (Array(repeating: 0, count: 3), Array(repeating: 0, count: 9))
        var last = Array(repeating: 0, count: 9)
        for _ in 0..<10_000 {
            let next = waiting.popFirst()
            let item = try #require(next)
            #expect(item.number == last[item.stream] + 1, "seed \(Dice.runSeed)")
            last[item.stream] = item.number
            ofTenant[Int(item.tenant)] += item.cost
            ofStream[item.stream] += item.cost
            append(Int(item.tenant), item.stream)
            #expect(Self.spread(ofTenant) <= most, "seed \(Dice.runSeed)")
            for streams in streams {
                #expect(Self.spread(streams.map { ofStream[$0] }) <= most, "seed \(Dice.runSeed)")
            }
        }
    }

    private static func spread(_ amounts: [Int]) -> Int {
        (amounts.max() ?? 0) - (amounts.min() ?? 0)
    }

    @Test(
        "a stream with a large item is not passed over for ever by new streams with small ones",
        arguments: [(10, 100_000, 100), (1000, 100, 1)])
    func newcomers(lines: Int, large: Int, small: Int) {
        var turns = Turns<String>()
        let old = Stream()
        turns.append("old", in: TurnLine(tenant: [1], stream: ObjectIdentifier(old)), cost: large)
        var kept: [Stream] = []
        var passed = 0
        func come() {
            let stream = Stream()
            kept.append(stream)
            turns.append(
                "new", in: TurnLine(tenant: [1], stream: ObjectIdentifier(stream)), cost: small)
        }
        for _ in 1..<lines { come() }
        let fair = large / small * lines
        while turns.popFirst() == "new", passed < 2 * fair {
            passed += 1
            come()
        }
        // So many lines wait at any time, and each has the same part.
        #expect((fair * 9 / 10...fair * 11 / 10).contains(passed))
        withExtendedLifetime(kept) {}
    }

    @Test("the least comes first, whatever comes and goes between")
    func least() {
        var dice = Dice(seed: Dice.runSeed)
        var (heap, sorted) = (LeastFirst<Int>(), [Int]())
        for _ in 0..<5000 {
            if dice.chance(55) {
                let element = dice.below(100)
                heap.insert(element)
                sorted.append(element)
                sorted.sort()
            } else {
                let (popped, expected) = (heap.popLeast(), sorted.first)
                #expect(popped == expected, "seed \(Dice.runSeed)")
                sorted = Array(sorted.dropFirst())
            }
            #expect(heap.least == sorted.first, "seed \(Dice.runSeed)")
        }
    }
}

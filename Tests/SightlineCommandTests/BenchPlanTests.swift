// A load is bounded, and its requests are due at even distances.
internal import ArgumentParser
internal import Testing

@testable internal import sightline

struct BenchPlanTests {
    @Test(
        "each option holds at its limits and not beyond",
        arguments: [
            ("--connections", 1000), ("--batch", 2000), ("--seconds", 86_400),
            ("--events", 1_000_000_000_000), ("--rate", 100_000_000),
        ])
    func limits(option: String, most: Int) throws {
        for value in [1, most] {
            #expect(throws: Never.self) { try BenchPlan.parse([option, "\(value)"]) }
        }
        for value in [0, most + 1, .max, .min] {
            let error = #expect(throws: (any Error).self) {
                try BenchPlan.parse(["\(option)=\(value)"])
            }
            let message = error.map { BenchPlan.message(for: $0) }
            #expect(message == "\(option) \(value) is outside 1 to \(most).")
        }
    }

    @Test("an open loop's requests are due at even distances, and do not drift")
    func even() throws {
        let plan = try BenchPlan.parse(["--rate", "1000"])
        let dues = (0..<4).map { plan.turn($0, elapsed: .seconds(9))?.due }
        #expect(dues == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(300)])
        let thirds = try BenchPlan.parse(["--rate", "3", "--batch", "1", "--seconds", "86400"])
        #expect(thirds.turn(3 * 80_000, elapsed: .zero)?.due == .seconds(80_000))
    }

    @Test(
        "an open loop has the requests that are due before its end, whatever the rate",
        arguments: [1, 3, 7, 200, 999, 1000, 3333, 100_000])
    func openEnd(rate: Int) throws {
        let plan = try BenchPlan.parse(["--rate", "\(rate)", "--batch", "10"])
        let count = try #require(plan.requestCount)
        let last = try #require(plan.turn(count - 1, elapsed: .zero)?.due)
        #expect(last < .seconds(10))
        #expect(last + .seconds(10.0 / Double(rate)) >= .seconds(10) - .nanoseconds(1))
        #expect(plan.turn(count, elapsed: .zero) == nil)
        #expect(plan.turn(count - 1, elapsed: .seconds(10)) == nil)
    }

    @Test("a closed loop ends by the clock, and nothing in it is due")
    func closedEnd() throws {
        let plan = try BenchPlan.parse(["--seconds", "2"])
        let turn = try #require(plan.turn(1_000_000, elapsed: .milliseconds(1999)))
        #expect(turn.events == 100_000_000..<100_000_100 && turn.due == nil)
        #expect(plan.turn(0, elapsed: .seconds(2)) == nil)
        #expect(plan.requestCount == nil)
    }

    @Test("so many events are sent and no more: the last request is smaller")
    func events() throws {
        let plan = try BenchPlan.parse(["--events", "250"])
        let requests = (0..<4).map { plan.turn($0, elapsed: .seconds(1000))?.events }
        #expect(requests == [0..<100, 100..<200, 200..<250, nil])
        #expect(plan.turn(.max, elapsed: .zero) == nil)
    }
}

// When a load's requests are due, and what a stream has under way.
internal import Testing
@testable internal import sightline

struct BenchScheduleTests {
    private static func plan(
        _ end: BenchPlan.End, batch: Int = 100, rate: Int? = nil
    ) -> BenchPlan {
        var plan = BenchPlan()
        plan.end = end
        plan.batch = batch
        plan.rate = rate
        return plan
    }

    @Test("an open loop's requests are due at even distances, however late it is")
    func even() {
        let schedule = BenchSchedule(Self.plan(.seconds(10), rate: 1000))
        let dues = (0..<4).map { schedule.turn($0, elapsed: .seconds(9))?.due }
        #expect(dues == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(300)])
    }

    @Test("distances that are no round number do not add up to a drift")
    func noDrift() {
        let schedule = BenchSchedule(Self.plan(.seconds(86_400), batch: 1, rate: 3))
        #expect(schedule.turn(3 * 80_000, elapsed: .zero)?.due == .seconds(80_000))
    }

    @Test("an open loop of 10 s at 1000 events/s in hundreds has 100 requests")
    func openEnd() {
        let schedule = BenchSchedule(Self.plan(.seconds(10), rate: 1000))
        #expect(schedule.turn(99, elapsed: .zero) != nil)
        #expect(schedule.turn(100, elapsed: .zero) == nil)
        #expect(schedule.turn(99, elapsed: .seconds(10)) == nil)
    }

    @Test(
        "what was due by a moment are the requests before it, whatever the rate",
        arguments: [1, 3, 7, 200, 999, 1000, 3333, 100_000])
    func dueCount(rate: Int) {
        let schedule = BenchSchedule(Self.plan(.seconds(10), batch: 10, rate: rate))
        let limits: [Duration] = [.milliseconds(1), .milliseconds(2345), .seconds(9), .seconds(20)]
        for limit in limits {
            let count = schedule.dueCount(by: limit) ?? 0
            let elapsed = min(limit, .seconds(10))
            #expect((schedule.turn(count - 1, elapsed: .zero)?.due ?? .zero) < elapsed)
            let next = schedule.turn(count, elapsed: .zero)?.due
            #expect(next == nil || next ?? .zero >= elapsed)
        }
    }

    @Test("a closed loop ends by the clock, and nothing in it is due")
    func closedEnd() {
        let schedule = BenchSchedule(Self.plan(.seconds(2)))
        let turn = schedule.turn(1_000_000, elapsed: .milliseconds(1999))
        #expect(turn == BenchSchedule.Turn(eventCount: 100, due: nil))
        #expect(schedule.turn(0, elapsed: .seconds(2)) == nil)
        #expect(schedule.dueCount(by: .seconds(2)) == nil)
    }

    @Test("so many events are sent and no more: the last request is smaller")
    func events() {
        let schedule = BenchSchedule(Self.plan(.events(250)))
        let counts = (0..<4).map { schedule.turn($0, elapsed: .seconds(1000))?.eventCount }
        #expect(counts == [100, 100, 50, nil])
        #expect(schedule.turn(.max, elapsed: .zero) == nil)
    }
}

struct BenchFlowTests {
    @Test("a stream takes a window of requests, and one more for each that is acked")
    func window() {
        var flow = BenchFlow(window: 2)
        #expect(flow.begin(at: .zero) == 1)
        #expect(flow.hasRoom)
        #expect(flow.begin(at: .zero) == 2)
        #expect(!flow.hasRoom)
        _ = flow.settle(through: 1, at: .seconds(1))
        #expect(flow.hasRoom)
        #expect(flow.underWay == 1)
    }

    @Test("latency counts from the moment of each request, and each is settled once")
    func latencies() {
        var flow = BenchFlow(window: 3)
        for moment in [1, 2, 3] { _ = flow.begin(at: .seconds(moment)) }
        #expect(flow.settle(through: 2, at: .seconds(10)) == [.seconds(9), .seconds(8)])
        #expect(flow.settle(through: 2, at: .seconds(11)) == [])
        #expect(flow.begin(at: .seconds(12)) == 4)
        #expect(flow.settle(through: 4, at: .seconds(13)) == [.seconds(10), .seconds(1)])
    }

    @Test("a watermark beyond what was sent settles what was sent")
    func beyond() {
        var flow = BenchFlow(window: 3)
        _ = flow.begin(at: .zero)
        #expect(flow.settle(through: .max, at: .seconds(1)) == [.seconds(1)])
        #expect(flow.underWay == 0)
    }
}

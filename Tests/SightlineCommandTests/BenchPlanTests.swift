// A load is bounded: each option at its limits, and one beyond.
internal import Testing
@testable internal import sightline

struct BenchPlanTests {
    private static func options() -> [(String, WritableKeyPath<BenchPlan, Int>, Int, Int)] {
        [
            ("--connections", \.connections, 1, 1000), ("--streams", \.streams, 1, 1000),
            ("--batch", \.batch, 1, 2000), ("--event-bytes", \.eventBytes, 240, 16_384),
            ("--window", \.window, 1, 4096),
        ]
    }

    /// One stream, so that only the option's own limit counts.
    private static func small() -> BenchPlan {
        var plan = BenchPlan()
        plan.connections = 1
        return plan
    }

    @Test("each option holds at its limits and not beyond", arguments: 0..<5)
    func limits(index: Int) throws {
        let (name, option, least, most) = Self.options()[index]
        for value in [least, most] {
            var plan = Self.small()
            plan[keyPath: option] = value
            #expect(throws: Never.self) { try plan.validate() }
        }
        for value in [least - 1, most + 1, .min, .max] {
            var plan = Self.small()
            plan[keyPath: option] = value
            let reason = "\(name) \(value) is outside \(least) to \(most)"
            #expect(throws: BenchPlanError(reason: reason)) { try plan.validate() }
        }
    }

    @Test(
        "ends and rates are bounded",
        arguments: [
            (BenchPlan.End.seconds(1), nil, true), (.seconds(86_400), nil, true),
            (.seconds(0), nil, false), (.seconds(86_401), nil, false), (.events(1), nil, true),
            (.events(1_000_000_000_000), nil, true), (.events(0), nil, false),
            (.events(1_000_000_000_001), nil, false), (.seconds(1), 1, true),
            (.seconds(1), 100_000_000, true), (.seconds(1), 0, false),
            (.seconds(1), 100_000_001, false),
        ] as [(BenchPlan.End, Int?, Bool)])
    func ends(end: BenchPlan.End, rate: Int?, isGood: Bool) {
        var plan = BenchPlan()
        plan.end = end
        plan.rate = rate
        let result = Result { () throws(BenchPlanError) in try plan.validate() }
        switch result {
        case .success: #expect(isGood)
        case .failure(let error):
            #expect(!isGood)
            #expect(error.reason.contains(" is outside 1 to "))
        }
    }

    @Test("all streams' requests together take 1 GiB at most")
    func memory() {
        var plan = Self.small()
        plan.connections = 64
        plan.batch = 1024
        plan.eventBytes = 16_000
        plan.window = 1
        #expect(throws: Never.self) { try plan.validate() }
        plan.connections = 66
        #expect(throws: BenchPlanError.self) { try plan.validate() }
    }
}

// Which traces are recorded.
internal import Telemetry
internal import Testing
internal import W3CTrace

struct SamplerTests {
    /// Trace ids by the half that ratio samplers look at.
    private static let (lowest, middle, highest) = (UInt64.min, UInt64(1) << 63, UInt64.max)

    struct Row: Sendable {
        let name: String
        var ratio = 1.0
        /// What the parent has decided; nil without a parent.
        var parent: Bool?
        var low = SamplerTests.middle
        let isSampled: Bool
    }

    static let rows: [Row] = [
        Row(name: "always_on", isSampled: true),
        Row(name: "always_on", parent: false, isSampled: true),
        Row(name: "always_on", parent: true, isSampled: true),
        Row(name: "always_on", ratio: 0, isSampled: true),
        Row(name: "always_off", isSampled: false),
        Row(name: "always_off", parent: true, isSampled: false),
        Row(name: "always_off", parent: false, isSampled: false),
        Row(name: "traceidratio", ratio: 1, low: highest, isSampled: true),
        Row(name: "traceidratio", ratio: 0, low: lowest, isSampled: false),
        Row(name: "traceidratio", ratio: 0.5, low: middle - 1, isSampled: true),
        Row(name: "traceidratio", ratio: 0.5, low: middle, isSampled: false),
        Row(name: "traceidratio", ratio: 0.5, parent: true, low: middle, isSampled: false),
        Row(name: "traceidratio", ratio: 0.5, parent: false, low: middle - 1, isSampled: true),
        Row(name: "traceidratio", ratio: 0x1p-64, low: lowest, isSampled: true),
        Row(name: "traceidratio", ratio: 0x1p-64, low: 1, isSampled: false),
        Row(name: "traceidratio", ratio: 1.0.nextDown, low: highest, isSampled: false),
        Row(name: "parentbased_always_on", isSampled: true),
        Row(name: "parentbased_always_on", parent: true, isSampled: true),
        Row(name: "parentbased_always_on", parent: false, isSampled: false),
        Row(name: "parentbased_always_off", isSampled: false),
        Row(name: "parentbased_always_off", parent: true, isSampled: true),
        Row(name: "parentbased_always_off", parent: false, isSampled: false),
        Row(name: "parentbased_traceidratio", ratio: 0.5, low: middle - 1, isSampled: true),
        Row(name: "parentbased_traceidratio", ratio: 0.5, low: middle, isSampled: false),
        Row(
            name: "parentbased_traceidratio", ratio: 0.5, parent: true, low: middle,
            isSampled: true),
        Row(
            name: "parentbased_traceidratio", ratio: 0.5, parent: false, low: lowest,
            isSampled: false),
    ]

    @Test("a sampler decides by its parent, or by the trace id", arguments: rows)
    func decides(_ row: Row) {
        let traceID = TraceContext.TraceID(high: 1, low: row.low)
        let parent = row.parent.map { TraceContext(traceID: traceID, spanID: 2, isSampled: $0) }
        let sampler = Sampler(name: row.name, ratio: row.ratio)
        #expect(sampler.samples(traceID, parent: parent) == row.isSampled)
    }

    @Test("every name is one of the table's, and every one is told apart")
    func names() {
        #expect(Set(Self.rows.map(\.name)) == Set(Sampler.names))
        let samplers = Sampler.names.map { Sampler(name: $0, ratio: 0.5) }
        for (index, sampler) in samplers.enumerated() {
            #expect(samplers.firstIndex(of: sampler) == index)
        }
    }

    @Test("a tenth of random traces is a tenth of them, within five standard deviations")
    func share() {
        let sampler = Sampler(name: "traceidratio", ratio: 0.1)
        var generator = SystemRandomNumberGenerator()
        let count = (0..<10_000).count { _ in
            sampler.samples(TraceContext.random(using: &generator).traceID, parent: nil)
        }
        #expect((850...1150).contains(count))
    }
}

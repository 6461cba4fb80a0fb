// How much a delivery holds.
internal import Testing
internal import TrackingRules

struct BatchLimitTests {
    @Test(
        "a delivery has 50,000 hits and 8 MiB at most, and a sink may lower either",
        arguments: [
            (BatchLimit(hits: .max, bytes: .max), BatchLimit(hits: 50_000, bytes: 8_388_608)),
            (BatchLimit(hits: 1, bytes: .max), BatchLimit(hits: 1, bytes: 8_388_608)),
            (BatchLimit(hits: .max, bytes: 1), BatchLimit(hits: 50_000, bytes: 1)),
            (BatchLimit.oneGroup, BatchLimit.oneGroup),
        ])
    func standard(sink: BatchLimit, limit: BatchLimit) {
        #expect(BatchLimit.standard.lowered(to: sink) == limit)
        #expect(sink.lowered(to: .standard) == limit)
    }
}

// The figures of what a sender has told.
internal import Testing
internal import TrackingRules

struct SendFactsTests {
    @Test(
        "D60: what was sent, what failed, and what is both make those that were tried",
        arguments: [
            (SendFacts(), [0, 0], nil),
            (SendFacts(sent: 106, failed: 12, sentAndFailed: 6), [112, 6], 106.0 / 112),
            (SendFacts(sent: 4), [4, 0], 1), (SendFacts(failed: 4), [4, 4], 0),
            (SendFacts(sent: 3, failed: 3, sentAndFailed: 3), [3, 0], 1),
            // The ledger has no longer what is older than the count of both.
            (SendFacts(sent: 5, failed: 1, sentAndFailed: 3), [5, 0], 1),
            (SendFacts(failed: 2, sentAndFailed: 3), [0, 0], nil),
        ] as [(SendFacts, [UInt64], Double?)])
    func figures(_ facts: SendFacts, _ counts: [UInt64], _ rate: Double?) {
        #expect([facts.attempted, facts.undelivered] == counts)
        #expect(facts.deliveredRate == rate)
    }

    @Test("those of two platforms are added before they are subtracted")
    func sum() {
        // The failure was told of no platform, and the success of iOS.
        let both = SendFacts(failed: 1) + SendFacts(sent: 1, sentAndFailed: 1)
        #expect(both == SendFacts(sent: 1, failed: 1, sentAndFailed: 1))
        #expect(both.attempted == 1 && both.undelivered == 0)
    }
}

// What a backend's commits cost, as it is told.
internal import Testing

@testable internal import GRPCSink

struct CommitRhythmTests {
    @Test(
        "a rate is the window by the time that an ack takes, and a commit by time is told of",
        arguments: [
            (Duration.zero, 16_384, 16_384_000, false), (.microseconds(300), 1, 1000, false),
            (.milliseconds(20), 16_384, 819_200, false),
            (.milliseconds(250), 16_384, 65_536, false), (.milliseconds(251), 1000, 3984, true),
            (.seconds(5), 16_384, 3276, true), (.seconds(600), 1, 0, true),
        ])
    func rates(_ delay: Duration, _ hits: Int, _ rate: Int, _ isSlow: Bool) {
        let rhythm = CommitRhythm(delay: delay, windowHits: hits)
        #expect(rhythm.hitsPerSecond == rate && rhythm.isSlow == isSlow)
        #expect(rhythm.sentence.contains("a window of \(hits) hits, at most \(rate) hits/s"))
        #expect(rhythm.sentence.contains("awaits_ack is set") == isSlow, "\(rhythm.sentence)")
    }
}

// The numbers in reports.
internal import Testing

@testable internal import TrackingReport

struct ReportNumberTests {
    @Test(
        "ratios are rounded as by hand, also if the nearest binary number of a half is less",
        arguments: [
            (57.0, 800.0, 0.0713, "7.1 %"), (69, 800, 0.0863, "8.6 %"),
            (201, 400, 0.5025, "50.3 %"), (1, 32, 0.0313, "3.1 %"), (1, 3, 0.3333, "33.3 %"),
            (2, 3, 0.6667, "66.7 %"), (0, 7, 0, "0.0 %"), (7, 7, 1, "100.0 %"),
            (1, 2_000_000_000, 0, "0.0 %"), (9, 2, 4.5, "450.0 %"),
        ] as [(Double, Double, Double, String)])
    func ratios(_ part: Double, of whole: Double, rounded: Double, percent: String) {
        #expect(ReportNumber.rounded(part / whole) == rounded)
        #expect(ReportNumber.percent(part / whole) == percent)
    }
}

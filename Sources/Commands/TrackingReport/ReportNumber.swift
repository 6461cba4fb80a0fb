/// Formats numbers, independent of the locale.
enum ReportNumber {
    /// A ratio in percent with one decimal, e.g. `37.5 %`.
    static func percent(_ ratio: Double) -> String {
        let tenths = Int(Self.parts(1000, of: ratio))
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A ratio rounded to four decimals, for programs.
    static func rounded(_ ratio: Double) -> Double { Self.parts(10_000, of: ratio) / 10_000 }

    /// A ratio in whole parts of one, a half rounded up: the nearest binary number of 57 / 800 is
    /// less than 0.07125, so the ratio is rounded to 12 decimals first.
    private static func parts(_ count: Double, of ratio: Double) -> Double {
        ((ratio * 1e12).rounded() / (1e12 / count)).rounded()
    }

    /// A count with thousands separators, e.g. `1,234,567`.
    static func grouped(_ count: Int) -> String {
        var text = ""
        let digits = String(count)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }
}

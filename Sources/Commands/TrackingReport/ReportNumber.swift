/// Formats numbers, independent of the locale.
enum ReportNumber {
    /// A ratio in percent with one decimal, e.g. `37.5 %`.
    static func percent(_ ratio: Double) -> String {
        let tenths = Int((ratio * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A ratio rounded to four decimals, for programs.
    static func rounded(_ ratio: Double) -> Double { (ratio * 10_000).rounded() / 10_000 }

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

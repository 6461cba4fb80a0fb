// Numbers as people read them, the same on every machine.

/// Counts and ratios in words.
enum ReportNumber {
    /// A ratio in percent with one digit, as in `37.5 %`.
    static func percent(_ ratio: Double) -> String {
        let tenths = Int((ratio * 1000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    /// A ratio for programs: four digits after the point.
    static func rounded(_ ratio: Double) -> Double { (ratio * 10_000).rounded() / 10_000 }

    /// A count with its thousands apart, as in `1,234,567`.
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

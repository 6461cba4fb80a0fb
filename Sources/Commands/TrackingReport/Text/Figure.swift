internal import Foundation

/// Formats numbers with a suitable unit.
package enum Figure {
    /// `1234567` as `1,234,567`.
    package static func grouped(_ count: Int) -> String {
        var digits = String(count)
        var place = digits.count - 3
        while place > (count < 0 ? 1 : 0) {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return digits
    }

    /// A rate; without decimals from 100 on.
    package static func rate(_ rate: Double) -> String {
        rate < 100 ? Self.digits(rate) : Self.grouped(Int(clamping: Int64(min(rate, 1e15))))
    }

    /// Bytes with binary prefixes.
    package static func bytes(_ count: Int) -> String {
        Self.scaled(Double(count), by: 1024, ["B", "KiB", "MiB", "GiB", "TiB"])
    }

    /// A number of bytes and its share of a whole.
    package static func part(_ part: Int, of whole: Int) -> String {
        let share = whole > 0 ? Double(part) / Double(whole) * 100 : 0
        return "\(Self.bytes(part)) of \(Self.bytes(whole)) (\(Self.digits(share)) %)"
    }

    /// A ratio in percent with one decimal, e.g. `37.5 %`.
    package static func percent(_ ratio: Double) -> String { ReportNumber.percent(ratio) }

    /// A duration in a suitable unit; a dash for nil.
    package static func seconds(_ seconds: Double?) -> String {
        guard let seconds else { return "–" }
        if seconds == 0 { return "0 s" }
        return Self.scaled(seconds * 1e6, by: 1000, ["µs", "ms", "s"])
    }

    /// A long duration in its two largest units.
    package static func duration(_ seconds: Double) -> String {
        let seconds = Int(max(0, min(seconds, 1e12)))
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }

    private static func scaled(_ value: Double, by step: Double, _ units: [String]) -> String {
        var value = value
        var units = units[...]
        while value >= step, units.count > 1 {
            value /= step
            units = units.dropFirst()
        }
        return "\(Self.digits(value)) \(units.first ?? "")"
    }

    /// About three digits, without trailing decimals.
    private static func digits(_ value: Double) -> String {
        let text = String(format: value < 10 ? "%.2f" : "%.1f", value)
        guard text.contains(".") else { return text }
        let kept = text.reversed().drop { $0 == "0" }
        return String(kept.drop { $0 == "." }.reversed())
    }
}

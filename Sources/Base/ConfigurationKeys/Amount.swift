/// Sizes and times as people write them: a whole number, and a unit behind it.
///
/// The one place that knows units, for keys and for the commands' options.
package enum Amount {
    /// The value of a text, in the unit of its key or option.
    ///
    /// - Parameter unit: `bytes`, `milliseconds`, `seconds` or `days`; a number of any other takes
    ///   no unit.
    /// - Returns: nil for what is no such number, for a time that is no whole number of the unit,
    ///   and for one that does not fit into an `Int`.
    package static func value(of text: String, in unit: String) -> Int? {
        if let number = Int(text) { return number }
        guard let units = Self.units[unit], text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let digits = text.prefix { ("0"..."9").contains($0) }
        let suffix = text.dropFirst(digits.count).drop { $0 == " " }
        let name = unit == Self.bytes ? suffix.lowercased() : String(suffix)
        guard let number = Int(digits), let scale = units.scales[name] else { return nil }
        let (product, isTooLarge) = number.multipliedReportingOverflow(by: scale)
        guard !isTooLarge, product.isMultiple(of: units.own) else { return nil }
        return product / units.own
    }

    /// What follows the rule of a number in this unit; empty if it takes no unit.
    package static func examples(in unit: String) -> String {
        Self.units[unit].map { ", or \($0.examples)" } ?? ""
    }

    private static let bytes = "bytes"

    /// The units that a number may have, by their names.
    private struct Units {
        /// What a number without a unit counts, in the smallest unit.
        var own = 1
        let scales: [String: Int]
        let examples: String
    }

    private static let units: [String: Units] = [
        Self.bytes: Units(scales: Self.sizes, examples: "as 16k, 64MB, 4GB (powers of 1024)"),
        "milliseconds": Units(scales: Self.times, examples: "as 500ms, 5s"),
        "seconds": Units(own: 1000, scales: Self.times, examples: "as 90s, 15m, 12h, 7d"),
        "days": Units(own: 86_400_000, scales: Self.times, examples: "as 48h, 7d"),
    ]

    /// In lower case.
    private static let sizes: [String: Int] = {
        var sizes = ["b": 1]
        for (power, letter) in ["k", "m", "g", "t"].enumerated() {
            for name in [letter, letter + "b", letter + "ib"] {
                sizes[name] = 1 << (10 * (power + 1))
            }
        }
        return sizes
    }()

    /// In milliseconds.
    private static let times = [
        "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000,
    ]
}

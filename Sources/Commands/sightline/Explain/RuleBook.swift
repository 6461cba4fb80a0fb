internal import TrackingReport
internal import WireFormat

/// The rules of docs/rules.md, which is built into the program.
enum RuleBook {
    /// A rule and its reason.
    struct Rule {
        let number: String
        let text: String
        let reason: String
    }

    /// All rules, in the order of the page.
    static var rules: [Rule] {
        String(decoding: PackageResources.rules_md, as: UTF8.self)
            .split(separator: "\n")
            .compactMap(Self.rule)
    }

    /// The rule with a number such as "D22", in upper or lower case.
    static subscript(_ number: String) -> Rule? {
        Self.rules.first { $0.number == number.uppercased() }
    }

    /// The error for a number without a rule.
    static func problem(with number: String) -> String {
        // The highest number, wherever the page lists it.
        let last = Self.rules.compactMap { Int($0.number.dropFirst()) }.max() ?? 0
        return "--rule \(number.printable) is no rule: they go from D1 to D\(last), see "
            + "docs/rules.md."
    }

    /// Parses a row of the page's tables: `| <a id="d22"></a>D22 | text | reason |`.
    private static func rule(_ line: Substring) -> Rule? {
        let cells = line.split(separator: " | ", omittingEmptySubsequences: false)
        guard cells.count == 3, cells[2].hasSuffix(" |"),
            let anchor = cells[0].firstRange(of: "</a>")
        else { return nil }
        return Rule(
            number: String(cells[0][anchor.upperBound...]), text: String(cells[1]),
            reason: String(cells[2].dropLast(2)))
    }
}

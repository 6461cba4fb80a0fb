// Columns of text that line up, for people on a terminal.

/// A table of printable text.
package struct TextTable: Sendable {
    /// Where a column's text stands.
    package enum Alignment: Sendable {
        /// At the left, for words.
        case left
        /// At the right, for numbers.
        case right
    }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    /// A table with its heading. Empty titles give a table without one.
    package init(_ columns: [(title: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Adds a row; its cells are made printable. Cells without a column are left out.
    package mutating func add(_ cells: [String]) {
        self.rows.append(cells.prefix(self.columns.count).map(\.printable))
    }

    /// The lines, each without blanks at its end; the heading first where there is one.
    package func lines() -> [String] {
        let titles = self.columns.map(\.title)
        let hasHeading = titles.contains { !$0.isEmpty }
        let rows = (hasHeading ? [titles] : []) + self.rows
        let widths = self.columns.indices.map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { cells in
            let padded = cells.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: max(0, widths[column] - cell.count))
                switch self.columns[column].alignment {
                case .left: return cell + blanks
                case .right: return blanks + cell
                }
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

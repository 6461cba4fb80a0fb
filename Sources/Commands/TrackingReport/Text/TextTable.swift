internal import WireFormat

/// A table with aligned columns, for terminals. Cells are made printable.
package struct TextTable: Sendable {
    /// The alignment of a column.
    package enum Alignment: Sendable {
        /// Left, for text.
        case left
        /// Right, for numbers.
        case right
    }

    private let columns: [(title: String, alignment: Alignment)]
    private var rows: [[String]] = []

    /// Creates a table. With empty titles it has no heading.
    package init(_ columns: [(title: String, alignment: Alignment)]) {
        self.columns = columns
    }

    /// Adds a row. Excess cells are dropped.
    package mutating func add(_ cells: [String]) {
        self.rows.append(cells.prefix(self.columns.count).map(\.printable))
    }

    /// The lines without trailing spaces, heading first.
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

/// A table of details on the page. The template refers to its properties by name.
struct PageTable {
    /// A cell behind a row's heading.
    struct Cell {
        var text: String
        var isNumber: Bool
    }

    /// A row: its heading and the cells behind it.
    struct Row {
        var key: String
        var cells: [Cell]
    }

    var id: String
    var title: String
    /// What to know of the rows.
    var note: String?
    var columns: [String]
    var rows: [Row]

    init(_ table: DetailTable, id: String) {
        self.id = id
        self.title = table.title
        self.note = table.notes.isEmpty ? nil : table.notes.joined(separator: " ")
        self.columns = table.columns.map(\.title)
        self.rows = table.rows.map { cells in
            Row(
                key: cells.first ?? "",
                cells: zip(cells, table.columns).dropFirst().map { text, column in
                    Cell(text: text, isNumber: column.alignment == .right)
                })
        }
    }
}

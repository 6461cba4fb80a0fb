/// A table of a report's details, for terminals and for the page.
package struct DetailTable: Sendable {
    let title: String
    let columns: [(title: String, alignment: TextTable.Alignment)]
    var rows: [[String]] = []
    /// What to know of the rows, in lines for a terminal.
    var notes: [String] = []

    /// The lines without colours, an empty one first; none without rows.
    package func lines() -> [String] {
        guard !self.rows.isEmpty else { return [] }
        var table = TextTable(self.columns)
        for row in self.rows { table.add(row) }
        return ["", self.title, ""] + table.lines()
            + (self.notes.isEmpty ? [] : [""] + self.notes)
    }
}

extension Report {
    /// The tables of the requested details that have rows.
    package var detailTables: [DetailTable] {
        [
            self.neverSent?.table, self.versions.map(VersionTable.table),
            self.pushDetails?.table, self.inAppDetails?.table,
        ].compactMap(\.self).filter { !$0.rows.isEmpty }
    }
}

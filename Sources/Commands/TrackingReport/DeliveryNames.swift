package import DeliveryDiagnosis
package import Foundation
internal import WireFormat

/// What Campaign knows about its deliveries, and hits do not contain: their names, and to how many
/// recipients each was delivered. Read from CSV with the columns id, name and delivered, in the
/// order of its heading; only id is required.
package struct DeliveryNames: Sendable {
    /// The entry of one delivery.
    package struct Entry: Sendable, Equatable {
        /// The delivery's name; nil if the file has none.
        package var name: String?
        /// The number of recipients; nil if the file has none.
        package var delivered: Int?
    }

    /// The maximum bytes of a file. The caller enforces it.
    package static let maxBytes = 16 << 20
    /// The maximum rows of a file.
    package static let maxRows = 200_000

    private let entries: [ExactText: Entry]

    /// Reads CSV (RFC 4180) in UTF-8.
    ///
    /// - Throws: `DeliveryNamesError` with the line of the first fault.
    package init(csv: Data) throws(DeliveryNamesError) {
        guard let text = String(data: csv, encoding: .utf8) else {
            throw DeliveryNamesError(line: nil, reason: "it is not UTF-8; save it as CSV in UTF-8")
        }
        var reader = CSVReader(text)
        guard let heading = try reader.next() else {
            throw DeliveryNamesError(
                line: 1, reason: "it is empty; it begins with id,name,delivered")
        }
        let columns = try Columns(heading.cells)
        var entries: [ExactText: Entry] = [:]
        while let row = try reader.next() {
            guard entries.count < Self.maxRows else {
                throw DeliveryNamesError(
                    line: row.line, reason: "at most \(Self.maxRows) deliveries are read")
            }
            let (id, entry) = try columns.entry(of: row)
            guard entries.updateValue(entry, forKey: ExactText(id)) == nil else {
                throw DeliveryNamesError(
                    line: row.line, reason: "the delivery \(id.printable) stands twice; keep one")
            }
        }
        self.entries = entries
    }

    /// The ids of all deliveries in the file.
    var ids: Dictionary<ExactText, Entry>.Keys { self.entries.keys }

    /// The deliveries that a search may mean.
    package func candidates(of search: DeliverySearch) -> [DeliverySearch.Candidate] {
        DeliverySearch.best(
            of: self.entries.compactMap { id, entry in
                search.candidate(tenant: "", delivery: id.text, name: entry.name)
            })
    }

    /// The entry of a delivery.
    package subscript(id: String) -> Entry? { self.entries[ExactText(id)] }
}

/// Why a file of deliveries cannot be used.
package struct DeliveryNamesError: Error, Equatable, CustomStringConvertible {
    /// The line of the fault, from 1; nil for the whole file.
    package let line: Int?
    /// What is wrong, and the fix.
    package let reason: String

    /// The place and the reason.
    package var description: String {
        self.line.map { "line \($0): \(self.reason)" } ?? self.reason
    }
}

/// The positions of the columns.
private struct Columns {
    private let id: Int
    private let name: Int?
    private let delivered: Int?

    init(_ heading: [String]) throws(DeliveryNamesError) {
        let names = heading.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        guard let id = names.firstIndex(of: "id") else {
            throw DeliveryNamesError(
                line: 1,
                reason:
                    "no column is named id: it is \(names.joined(separator: ",").printable); begin "
                    + "the file with id,name,delivered")
        }
        self.id = id
        self.name = names.firstIndex(of: "name")
        self.delivered = names.firstIndex(of: "delivered")
    }

    func entry(
        of row: CSVReader.Row
    ) throws(DeliveryNamesError) -> (id: String, DeliveryNames.Entry) {
        func cell(_ column: Int?) -> String? {
            guard let column, column < row.cells.count else { return nil }
            let text = row.cells[column].trimmingCharacters(in: .whitespaces)
            return text.isEmpty ? nil : text
        }
        guard let id = cell(self.id) else {
            throw DeliveryNamesError(line: row.line, reason: "the id is missing")
        }
        var entry = DeliveryNames.Entry(name: cell(self.name))
        if let text = cell(self.delivered) {
            guard let count = Int(text), count >= 0 else {
                throw DeliveryNamesError(
                    line: row.line,
                    reason:
                        "delivered is \"\(text.printable)\", which is no count; write digits alone")
            }
            entry.delivered = count
        }
        return (id, entry)
    }
}

package import Foundation
package import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// What a sender knows of its deliveries, and hits do not contain. Read from CSV with the columns
/// id, name, product, sent_at, platform, sent, delivered and failed, in the order of its heading;
/// only id is required. A delivery has one row, or one for each platform.
package struct DeliveryTotalsTable: Sendable {
    /// A delivery of the file.
    package struct Row: Sendable, Equatable {
        /// The line of its first row, from 1.
        package let line: Int
        /// What its rows say together; the tenant is empty.
        package internal(set) var totals: DeliveryTotals
        /// The platforms that its rows name, nil where one names none.
        fileprivate var named: [Platform?]
    }

    /// The maximum bytes of a file. The caller enforces it.
    package static let maxBytes = 16 << 20
    /// The maximum deliveries of a file.
    package static let maxRows = 200_000

    /// The deliveries, in the order of their first rows.
    package private(set) var rows: [Row] = []

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
        let columns = try DeliveryTotalsColumns(heading.cells)
        var places: [ExactText: Int] = [:]
        while let cells = try reader.next() {
            let row = try columns.row(of: cells)
            let id = ExactText(row.totals.delivery)
            if let place = places[id] {
                try self.rows[place].add(row)
                continue
            }
            guard self.rows.count < Self.maxRows else {
                throw DeliveryNamesError(
                    line: row.line, reason: "at most \(Self.maxRows) deliveries are read")
            }
            places[id] = self.rows.count
            self.rows.append(row)
        }
    }
}

extension DeliveryTotalsTable.Row {
    init(line: Int, totals: DeliveryTotals, platform: Platform?) {
        self.init(line: line, totals: totals, named: [platform])
    }

    /// Adds a row of the same delivery, of another platform.
    fileprivate mutating func add(_ other: Self) throws(DeliveryNamesError) {
        let (id, first) = (self.totals.delivery.printable, self.line)
        guard !other.named.contains(where: { self.named.contains($0) }) else {
            throw DeliveryNamesError(
                line: other.line, reason: "the delivery \(id) stands twice; keep one")
        }
        func joined<Value: Equatable>(
            _ one: Value?, _ two: Value?, _ column: String
        ) throws(DeliveryNamesError) -> Value? {
            if let one, let two, one != two {
                throw DeliveryNamesError(
                    line: other.line,
                    reason: "the delivery \(id) has another \(column) in line \(first); keep one")
            }
            return one ?? two
        }
        let (old, new) = (self.totals, other.totals)
        self.totals.name = try joined(old.name, new.name, "name")
        self.totals.product = try joined(old.product, new.product, "product")
        self.totals.sentTime = try joined(old.sentTime, new.sentTime, "sent_at")
        self.totals.platforms += new.platforms
        self.named += other.named
    }
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

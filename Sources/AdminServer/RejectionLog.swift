// What was rejected of late, for a person on call: field and rule, and never a value.
internal import Synchronization
package import TrackingCore

/// Remembers rejections by field and rule; the least recent make room for new ones.
package final class RejectionLog: Sendable {
    /// Events that break one rule at one field.
    struct Row: Equatable {
        /// Path of the field. It comes from the rules: it holds nothing that a client sent.
        let field: String
        /// The rule.
        let code: Violation.Code
        /// Events since the row is there; a request that was refused as a whole counts as one.
        var count: Int
        /// When the first and the last of them came, in microseconds since 1970.
        let firstTime: Int64
        var lastTime: Int64
    }

    private let maxRows: Int
    /// The most recent last.
    private let rows = Mutex<[Row]>([])

    /// An empty log of so many rows at most.
    init(maxRows: Int) { self.maxRows = maxRows }

    /// The rows, the most recent first.
    var latest: [Row] { self.rows.withLock { $0.reversed() } }

    /// Notes what of a request was rejected; a request without rejections costs a look.
    package func note(_ request: AdmittedRequest, at time: Int64) {
        var found: [Row] = []
        if let violation = request.violation { Self.add(violation, at: time, to: &found) }
        for refusal in request.refusals {
            for violation in refusal.judgement.violations {
                Self.add(violation, at: time, to: &found)
            }
        }
        guard !found.isEmpty else { return }
        self.rows.withLock { rows in
            for row in found { self.merge(row, into: &rows) }
        }
    }

    private func merge(_ row: Row, into rows: inout [Row]) {
        var row = row
        if let place = rows.firstIndex(where: { $0.field == row.field && $0.code == row.code }) {
            let earlier = rows.remove(at: place)
            row = Row(
                field: row.field, code: row.code, count: earlier.count &+ row.count,
                firstTime: earlier.firstTime, lastTime: row.lastTime)
        } else if rows.count >= self.maxRows {
            rows.removeFirst()
        }
        rows.append(row)
    }

    private static func add(_ violation: Violation, at time: Int64, to rows: inout [Row]) {
        let place = rows.firstIndex { $0.field == violation.field && $0.code == violation.code }
        if let place {
            rows[place].count &+= 1
        } else {
            rows.append(
                Row(
                    field: violation.field, code: violation.code, count: 1, firstTime: time,
                    lastTime: time))
        }
    }
}

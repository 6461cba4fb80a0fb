internal import Synchronization
package import TrackingRules

/// Counts recent rejections by field and rule, without any value. Beyond the limit, the least
/// recent row is evicted.
package final class RejectionLog: Sendable {
    /// Rejections with the same field and rule.
    struct Row: Equatable {
        /// The field's path from the rules; it contains nothing that a client sent.
        let field: String
        /// The rule.
        let code: Violation.Code
        /// Rejected events since the row was added; a request refused as a whole counts as one.
        var count: Int
        /// When the first and the last one arrived, in microseconds since 1970.
        let firstTime: Int64
        var lastTime: Int64
    }

    private let maxRows: Int
    /// The most recent row is last.
    private let rows = Mutex<[Row]>([])

    /// Creates an empty log of at most `maxRows` rows.
    init(maxRows: Int) { self.maxRows = maxRows }

    /// The rows, most recent first.
    var latest: [Row] { self.rows.withLock { $0.reversed() } }

    /// Records the rejections of a request; cheap if there are none.
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

internal import Synchronization

/// Decides which refused hits of one sink are logged: those of a reason once a minute, with their
/// number. The reason itself is not logged, because a backend may quote a hit in it; the place of
/// its letter is, by which `sightline tail --rejected` shows it.
///
/// Letters that were held back, and whose reason does not come again, are in the summary alone.
final class DeadLetterLog: Sendable {
    /// The number of reasons that are told apart; all others count as one.
    static let maxReasons = 8
    /// The number of bytes by which reasons are told apart.
    static let reasonBytes = 256
    /// The time between two records of a reason, in microseconds.
    static let interval: Int64 = 60_000_000

    /// What is logged of a reason.
    struct Record: Equatable {
        /// The number of letters since the record before.
        let letters: Int
        /// The position of the first hit of this batch that was refused so.
        let position: Int
    }

    private struct Entry {
        var letters = 0
        /// Microseconds since 1970; nil before the first record.
        var logTime: Int64?

        /// A clock that was set back silences no reason.
        func isDue(at now: Int64) -> Bool {
            guard let logTime else { return true }
            return now < logTime || now - logTime >= DeadLetterLog.interval
        }
    }

    private let entries = Mutex<[[UInt8]: Entry]>([:])
    /// Stands for the reasons beyond the limit: a refusal without words belongs to them too.
    private static let others: [UInt8] = []

    /// Counts the hits of a batch that were refused at `now`, in microseconds since 1970.
    ///
    /// - Parameter reasons: by position.
    /// - Returns: what has to be logged, by position.
    func note(_ reasons: [Int: String], at now: Int64) -> [Record] {
        self.entries.withLock { entries in
            var places: [[UInt8]: Int] = [:]
            for (position, reason) in reasons.sorted(by: { $0.key < $1.key }) {
                var key = Array(reason.utf8.prefix(Self.reasonBytes))
                if entries[key] == nil {
                    Self.makeRoom(in: &entries, keeping: places, at: now)
                    let count = entries.count - (entries[Self.others] == nil ? 0 : 1)
                    if count >= Self.maxReasons { key = Self.others }
                }
                entries[key, default: Entry()].letters += 1
                if places[key] == nil { places[key] = position }
            }
            var records: [Record] = []
            for (key, position) in places {
                guard let entry = entries[key], entry.isDue(at: now) else { continue }
                records.append(Record(letters: entry.letters, position: position))
                entries[key] = Entry(logTime: now)
            }
            return records.sorted { $0.position < $1.position }
        }
    }

    /// Forgets the reasons that have not come for as long as a record is held back.
    private static func makeRoom(
        in entries: inout [[UInt8]: Entry], keeping places: [[UInt8]: Int], at now: Int64
    ) {
        entries = entries.filter { places[$0.key] != nil || !$0.value.isDue(at: now) }
    }
}

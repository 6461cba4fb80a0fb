internal import Synchronization

/// Decides which refused hits of one sink are logged: those of a reason once a minute, with their
/// number. The reason itself is not logged, because a backend may quote a hit in it; the place of
/// its letter is, by which `sightline tail --rejected` shows it.
///
/// Letters that were held back are told with the next batch after the minute, whatever its
/// outcome, and at the stop: the numbers of all records add up to the letters.
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
        /// The group of the first of them.
        let sequence: Int64
    }

    private struct Entry {
        /// Those that no record has told yet, and the group of the first of them.
        var letters = 0
        var sequence: Int64 = 0
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

    /// Counts the hits of a batch that were refused at `now`, in microseconds since 1970; a batch
    /// without any has what was held back told.
    ///
    /// - Parameters:
    ///   - reasons: by position.
    ///   - sequence: the group of a position.
    /// - Returns: what has to be logged.
    func note(
        _ reasons: [Int: String], at now: Int64, sequence: (Int) -> Int64
    ) -> [Record] {
        let batch = reasons.sorted { $0.key < $1.key }.map { position, reason in
            (position: position, reason: Array(reason.utf8.prefix(Self.reasonBytes)))
        }
        let coming = Set(batch.map(\.reason)).union([Self.others])
        return self.entries.withLock { entries in
            // The reasons that have not come for as long as a record is held back are forgotten.
            let quiet = entries.filter { !coming.contains($0.key) && $0.value.isDue(at: now) }
            for key in quiet.keys { entries[key] = nil }
            var records = Self.records(of: quiet.values)
            var keys: [[UInt8]] = []
            for (position, reason) in batch {
                let key = Self.key(of: reason, in: entries)
                var entry = entries[key] ?? Entry()
                if entry.letters == 0 { entry.sequence = sequence(position) }
                entry.letters += 1
                entries[key] = entry
                if !keys.contains(key) { keys.append(key) }
            }
            if !keys.contains(Self.others) { keys.append(Self.others) }
            for key in keys {
                guard let entry = entries[key], entry.letters > 0, entry.isDue(at: now) else {
                    continue
                }
                records.append(Record(letters: entry.letters, sequence: entry.sequence))
                entries[key] = Entry(logTime: now)
            }
            return records
        }
    }

    /// What was held back, at the stop; then nothing is.
    func rest() -> [Record] {
        self.entries.withLock { entries in
            defer { entries.removeAll() }
            return Self.records(of: entries.values)
        }
    }

    /// What counts a reason: itself, or all others once there is no room.
    private static func key(of reason: [UInt8], in entries: [[UInt8]: Entry]) -> [UInt8] {
        let count = entries.count - (entries[Self.others] == nil ? 0 : 1)
        return entries[reason] == nil && count >= Self.maxReasons ? Self.others : reason
    }

    private static func records(of entries: some Sequence<Entry>) -> [Record] {
        entries.filter { $0.letters > 0 }
            .map { Record(letters: $0.letters, sequence: $0.sequence) }
            .sorted { ($0.sequence, $0.letters) < ($1.sequence, $1.letters) }
    }
}

internal import DequeModule
internal import Synchronization
package import TrackingRules

extension Journal {
    /// The sequence of a sink's cursor; 0 for a new sink.
    package func cursor(of sink: String) -> Int64 { self.writer.cursor(of: sink).sequence }

    /// The token that the sink reported when its cursor moved there; empty if it reports none.
    package func resumeToken(of sink: String) -> String { self.writer.cursor(of: sink).resumeToken }

    /// Random numbers for the jitter of retries; deterministic in a simulation.
    package var generator: MachineGenerator { MachineGenerator(machine: self.machine) }

    /// The time of day by the machine's clock, in microseconds since 1970.
    package var wallTime: Int64 { self.machine.wallTime() }

    /// The hits that were released before a sink had them, not yet reported to it as a gap.
    package func missedHits(of sink: String) -> Int { self.writer.missedHits(of: sink) }

    /// The backlog of a sink.
    package struct Lag: Sendable, Equatable {
        /// The number of groups that the sink has not confirmed.
        package let groups: Int
        /// The bytes of their payload.
        package let bytes: Int
        /// When the oldest of them was committed, in microseconds since 1970; nil without one.
        package let oldestTime: Int64?
    }

    /// The backlog of a sink. May be called from any thread.
    package func lag(of sink: String) -> Lag { self.writer.lag(of: sink) }

    /// The sequence before the oldest kept group that was committed at a time or later, in
    /// microseconds since 1970; that of the newest group if there is none.
    package func sequence(before time: Int64) -> Int64 {
        self.writer.rows.withLock { rows in
            rows.first { $0.createTime >= time }.map { $0.sequence - 1 }
        } ?? self.lastSequence
    }

    /// When the oldest kept group was committed, in microseconds since 1970; nil without one.
    package var oldestTime: Int64? { self.writer.oldestTime }

    /// Keys in the deduplication window, of at most `configuration.windowCapacity`.
    package var windowKeys: Int { self.writer.windowKeys }

    /// Returns once the journal's queue has served this call, which it does not while the disk is
    /// stuck.
    package func probe() async { await self.onQueue {} }

    /// Whether four fifths of it are in use: clients should slow down before they are refused.
    package var isNearlyFull: Bool { self.writer.storedBytes > self.writer.maxBytes / 5 * 4 }

    /// The accepted events as they would be settled now; changes nothing (D52).
    package func preview(_ acceptedEvents: [AcceptedEvent]) async -> [AcceptedEvent] {
        await self.onQueue { self.writer.preview(acceptedEvents) }
    }

    /// The maximum payload that may be stored, in bytes.
    package var maxStoredBytes: Int { self.writer.maxBytes }
}

extension Deque<StoredRow> {
    /// Adds the newest row.
    mutating func add(_ row: StoredRow) {
        // Readers search by sequence, and would pass over a row that comes out of order.
        if let last { precondition(row.sequence > last.sequence, "a row comes out of order") }
        var row = row
        row.bytesTotal = (self.last?.bytesTotal ?? 0) &+ row.bytes
        self.append(row)
    }

    /// The bytes of the rows from `index` on.
    func bytes(from index: Int) -> Int {
        guard let last, index < self.count else { return 0 }
        return last.bytesTotal &- self[index].bytesTotal &+ self[index].bytes
    }

    /// Removes rows from the front while the condition holds; returns their bytes.
    mutating func removeRows(while condition: (StoredRow) -> Bool) -> Int {
        var bytes = 0
        while let row = self.first, condition(row) {
            bytes += row.bytes + row.trailingBytes
            self.removeFirst()
        }
        return bytes
    }
}

/// Something with a position in the journal.
protocol Sequenced {
    var sequence: Int64 { get }
}

extension StoredRow: Sequenced {}
extension JournalBatch: Sequenced {}

extension Deque where Element: Sequenced {
    /// The index of the first element after a sequence; `count` if there is none.
    func index(after sequence: Int64) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

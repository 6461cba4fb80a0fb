// How far the sinks have come, and how full the journal is: figures for whoever watches.
internal import DequeModule

extension Journal {
    /// Where a sink's cursor was when the journal was opened, or has come since; 0 for a new sink.
    package func cursor(of sink: String) -> Int64 { self.writer.cursor(of: sink).sequence }

    /// What the sink said of its place when its cursor came there; empty where it said nothing.
    package func place(of sink: String) -> String { self.writer.cursor(of: sink).place }

    /// Random numbers of the journal's machine, for who waits before it tries again.
    package var generator: MachineGenerator { MachineGenerator(machine: self.machine) }

    /// What a sink has yet to take.
    package struct Lag: Sendable, Equatable {
        /// Groups that it has not confirmed.
        package let groups: Int
        /// When the oldest of them was committed, in microseconds since 1970; nil where there is
        /// none.
        package let oldestTime: Int64?
    }

    /// What a sink has yet to take. May be asked at any time, from anywhere.
    package func lag(of sink: String) -> Lag { self.writer.lag(of: sink) }

    /// When the oldest group that is kept was committed, in microseconds since 1970; nil where
    /// there is none. Groups that every sink has are kept for `retainSeconds` more.
    package var oldestTime: Int64? { self.writer.oldestTime }

    /// Bytes of payload that may be kept.
    package var maxStoredBytes: Int { self.writer.maxBytes }
}

extension Deque<StoredRow> {
    /// Removes rows from the front for as long as the condition holds; their bytes.
    mutating func removeRows(while condition: (StoredRow) -> Bool) -> Int {
        var bytes = 0
        while let row = self.first, condition(row) {
            bytes += row.bytes
            self.removeFirst()
        }
        return bytes
    }

    /// The index of the first row after a sequence; the count where there is none.
    func index(after sequence: Int64) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].sequence > sequence { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

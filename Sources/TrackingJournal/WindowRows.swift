// The window's keys on their way into checkpoints, and the rows of them that may go.
internal import DequeModule

/// Keys that no checkpoint holds yet, and how many new ones each row in a checkpoint has.
struct WindowRows {
    private let capacity: Int
    private var saved: Deque<(sequence: Int64, keys: Int)>
    private var savedKeys: Int
    /// Changes that no checkpoint holds (`RecentHits.row(of:)`).
    private(set) var unsaved: [UInt8] = []
    private var unsavedKeys = 0

    private let maxUnsavedBytes: Int

    /// The rows that earlier runs left.
    ///
    /// - Parameters:
    ///   - capacity: keys of the window.
    ///   - maxUnsavedBytes: memory of unsaved keys. Many come together only where checkpoints find
    ///     no room on the disk.
    init(
        _ rows: [(sequence: Int64, keys: Int)], capacity: Int, maxUnsavedBytes: Int = 64 << 20
    ) {
        self.maxUnsavedBytes = maxUnsavedBytes
        self.capacity = capacity
        self.saved = Deque(rows)
        self.savedKeys = rows.reduce(0) { $0 + $1.keys }
    }

    /// Whether no more may be added before a checkpoint takes some.
    var isFull: Bool { self.unsaved.count > self.maxUnsavedBytes }

    /// Adds the changes of a record.
    mutating func add(_ keys: some Collection<UInt8>, newKeys: Int) {
        self.unsaved += keys
        self.unsavedKeys += newKeys
    }

    /// Takes what no checkpoint holds.
    mutating func take() -> (keys: [UInt8], newKeys: Int) {
        defer { (self.unsaved, self.unsavedKeys) = ([], 0) }
        return (self.unsaved, self.unsavedKeys)
    }

    /// The newest saved row that can be dropped while the window stays full.
    var forgettableThrough: Int64 {
        var left = self.savedKeys
        let last = self.saved.prefix { row in
            left -= row.keys
            return left >= self.capacity
        }.last
        return last?.sequence ?? 0
    }

    /// Notes that a checkpoint holds its keys.
    mutating func noteSaved(_ checkpoint: Checkpoint) {
        while let row = self.saved.first, row.sequence <= checkpoint.forgetThrough {
            self.savedKeys -= row.keys
            self.saved.removeFirst()
        }
        if !checkpoint.keys.isEmpty {
            self.saved.append((checkpoint.keysThrough, checkpoint.newKeys))
            self.savedKeys += checkpoint.newKeys
        }
    }

    /// Takes back what a checkpoint could not hold.
    mutating func putBack(_ checkpoint: Checkpoint) {
        self.unsaved = checkpoint.keys + self.unsaved
        self.unsavedKeys += checkpoint.newKeys
    }
}

internal import DequeModule

/// The window's keys that no checkpoint holds yet, and the number of new ones in each saved row.
struct WindowRows {
    private let capacity: Int
    private var saved: Deque<(sequence: Int64, keys: Int)>
    private var savedKeys: Int
    /// Unsaved changes (`DeduplicationWindow.row(of:)`).
    private(set) var unsaved: [UInt8] = []
    private var unsavedKeys = 0

    private let maxUnsavedBytes: Int

    /// Continues with the saved rows of earlier runs.
    ///
    /// - Parameters:
    ///   - capacity: the number of keys in the window.
    ///   - maxUnsavedBytes: the limit on unsaved keys, which only add up while the disk has no room
    ///     for checkpoints.
    init(
        _ rows: [(sequence: Int64, keys: Int)], capacity: Int, maxUnsavedBytes: Int = 64 << 20
    ) {
        self.maxUnsavedBytes = maxUnsavedBytes
        self.capacity = capacity
        self.saved = Deque(rows)
        self.savedKeys = rows.reduce(0) { $0 + $1.keys }
    }

    /// Whether a checkpoint must be written before more keys are added.
    var isFull: Bool { self.unsaved.count > self.maxUnsavedBytes }

    /// Adds a record's changes.
    mutating func add(_ keys: some Collection<UInt8>, newKeys: Int) {
        self.unsaved += keys
        self.unsavedKeys += newKeys
    }

    /// Takes the unsaved keys for a checkpoint.
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

    /// Records that a durable checkpoint holds its keys.
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

    /// Restores keys that a checkpoint could not write.
    mutating func putBack(_ checkpoint: Checkpoint) {
        self.unsaved = checkpoint.keys + self.unsaved
        self.unsavedKeys += checkpoint.newKeys
    }
}

// A disk in memory that distinguishes written and synced data.
internal import Glibc
internal import Storage
internal import TrackingJournal

/// Files and directories as a process sees them, and as a power cut leaves them. Used by one
/// thread.
final class SimulatedDisk: @unchecked Sendable {
    /// A file or a directory.
    final class Node {
        let isDirectory: Bool
        /// The contents that a process reads.
        var bytes: [UInt8] = []
        /// The durable contents.
        var durable: [UInt8] = []
        /// Sectors written since the last sync.
        var dirty: Set<Int> = []
        /// Sectors that cannot be read until they are rewritten.
        var unreadable: Set<Int> = []
        /// Whether a write of the first page once ended within it, or was lost in part: of what
        /// stands there nothing is known.
        var isTorn = false
        /// What a process finds in the directory.
        var entries: [String: Node] = [:]
        /// The durable entries.
        var durableEntries: [String: Node] = [:]
        /// Changes of entries since the last sync, in order.
        var changes: [Change] = []

        init(isDirectory: Bool) { self.isDirectory = isDirectory }
    }

    /// A change of a directory's entries.
    enum Change {
        case add(String, Node)
        case remove(String)
        case rename(String, String)
    }

    /// Calls among which a process is killed. Of all calls few are those between which a kill
    /// leaves something half done.
    private enum CountedCalls: CaseIterable {
        case all
        /// Writes and syncs of segments: a kill between them leaves half of a record.
        case segments
        /// Calls that make a file of the journal, or sync its directory: a kill between them leaves
        /// a file with a name that is not on disk.
        case names

        /// The most of them until the process is killed.
        func maximum(ofAll calls: Int) -> Int { self == .all ? calls : 10 }

        func contains(_ name: String, _ path: String) -> Bool {
            switch self {
            case .all: true
            case .segments:
                (name == "pwritev" || name == "fdatasync") && path.contains("/segment-")
            case .names:
                (name == "open" && path.contains("/segment-")) || name == "rename"
                    || (name == "fsync" && path.hasSuffix("/journal"))
            }
        }
    }

    static let sectorBytes = 512
    /// What a segment's header takes, both copies of it.
    static let pageBytes = 4096

    let dice: Dice
    private(set) var root = Node(isDirectory: true)
    var faults = DiskFaults()
    /// Whether the process was killed, so that its calls have no effect.
    private(set) var isDead = false
    /// The number of calls until the process is killed; nil for never.
    var callsUntilEnd: Int?
    /// The calls that this number counts.
    private var countedCalls = CountedCalls.all
    /// The number of calls so far.
    private(set) var calls = 0
    /// Called with every call and other event.
    var onTrace: ((String) -> Void)?

    init(dice: Dice) { self.dice = dice }

    /// The total bytes of files.
    var usedBytes: Int { Self.usedBytes(self.root) }

    private static func usedBytes(_ node: Node) -> Int {
        node.isDirectory
            ? node.entries.values.reduce(0) { $0 + Self.usedBytes($1) } : node.bytes.count
    }

    /// The node at a path; nil if there is none.
    func node(_ path: String) -> Node? {
        path.split(separator: "/").reduce(self.root) { $0?.entries[String($1)] }
    }

    // MARK: Calls

    /// Counts a call of the process, and throws if it has to fail.
    func call(_ name: String, _ path: String) throws(SystemError) {
        self.calls += 1
        if let left = self.callsUntilEnd, self.countedCalls.contains(name, path) {
            self.callsUntilEnd = left - 1
            if left <= 0 { self.isDead = true }
        }
        if self.isDead { throw SystemError(name, path, EIO) }
        self.onTrace?("\(self.calls) \(name) \(path)")
        if let code = self.faults.code(of: name, path, self.dice) {
            self.onTrace?("  fails: \(String(cString: strerror(code)))")
            throw SystemError(name, path, code)
        }
    }

    func write(_ bytes: ArraySlice<UInt8>, to node: Node, at offset: Int) {
        let end = offset + bytes.count
        if end > node.bytes.count {
            node.bytes += [UInt8](repeating: 0, count: end - node.bytes.count)
        }
        node.bytes.replaceSubrange(offset..<end, with: bytes)
        let sectors = offset / Self.sectorBytes..<(end + Self.sectorBytes - 1) / Self.sectorBytes
        node.dirty.formUnion(sectors)
        node.unreadable.subtract(sectors)
    }

    func truncate(_ node: Node, to count: Int) {
        let (start, end) = (min(count, node.bytes.count), max(count, node.bytes.count))
        if count < node.bytes.count {
            node.bytes.removeLast(node.bytes.count - count)
        } else {
            node.bytes += [UInt8](repeating: 0, count: count - node.bytes.count)
        }
        node.dirty.formUnion(start / Self.sectorBytes...end / Self.sectorBytes)
    }

    /// Makes writes durable. A failing sync leaves them visible to the process and marks them
    /// clean, as the kernel does.
    func sync(_ node: Node, fails: Bool = false) {
        defer { node.dirty = [] }
        if !fails { Self.persist(node, sectors: node.dirty, count: node.bytes.count) }
    }

    private static func persist(_ node: Node, sectors: Set<Int>, count: Int) {
        if node.durable.count > count { node.durable.removeLast(node.durable.count - count) }
        if node.durable.count < count {
            node.durable += [UInt8](repeating: 0, count: count - node.durable.count)
        }
        for sector in sectors {
            let start = sector * Self.sectorBytes
            let end = min(start + Self.sectorBytes, count, node.bytes.count)
            if start < end {
                node.durable.replaceSubrange(start..<end, with: node.bytes[start..<end])
            }
        }
    }

    func change(_ directory: Node, _ change: Change) {
        Self.apply(change, to: &directory.entries)
        directory.changes.append(change)
    }

    func syncEntries(_ directory: Node) {
        directory.durableEntries = directory.entries
        directory.changes = []
    }

    private static func apply(_ change: Change, to entries: inout [String: Node]) {
        switch change {
        case .add(let name, let node): entries[name] = node
        case .remove(let name): entries[name] = nil
        case .rename(let name, let newName):
            guard let node = entries.removeValue(forKey: name) else { return }
            entries[newName] = node
        }
    }

    // MARK: The end of a process

    /// Kills the process after a number of calls, of all or of some.
    func endSoon(maxCalls: Int) {
        self.countedCalls = self.dice.pick(CountedCalls.allCases)
        self.callsUntilEnd = self.dice.number(0...self.countedCalls.maximum(ofAll: maxCalls))
    }

    /// Kills the process: its further calls have no effect.
    func end() {
        self.isDead = true
        self.onTrace?("the process ends")
    }

    /// Starts a new process, which sees what the last one saw.
    func restart() {
        self.isDead = false
        self.callsUntilEnd = nil
        self.countedCalls = .all
    }

    /// Cuts the power: of unsynced changes, any sectors and entries may survive, or none.
    func cutPower() {
        let probability = self.dice.pick([0, 0, 0.5, 0.5, 0.9, 1])
        self.onTrace?("the power goes, \(probability) of what was not synced stays")
        self.cutPower(self.root, probability)
    }

    private func cutPower(_ node: Node, _ probability: Double) {
        guard node.isDirectory else {
            self.tear(node, probability)
            return
        }
        var entries = node.durableEntries
        for change in node.changes where self.dice.chance(probability) {
            Self.apply(change, to: &entries)
        }
        node.entries = entries
        node.durableEntries = entries
        node.changes = []
        for name in entries.keys.sorted() {
            if let child = entries[name] { self.cutPower(child, probability) }
        }
    }

    private func tear(_ file: Node, _ probability: Double) {
        if file.dirty.contains(where: { $0 < Self.pageBytes / Self.sectorBytes }) {
            file.isTorn = true
        }
        let kept = Set(file.dirty.sorted().filter { _ in self.dice.chance(probability) })
        let isLonger = file.bytes.count > file.durable.count
        // A file's new length is durable only together with its data.
        let count =
            kept.isEmpty || self.dice.chance(1 - probability) && !isLonger
            ? file.durable.count : file.bytes.count
        Self.persist(file, sectors: kept, count: count)
        file.bytes = file.durable
        file.dirty = []
    }
}

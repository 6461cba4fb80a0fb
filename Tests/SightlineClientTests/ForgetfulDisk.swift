// A disk for spools that loses at random what was not synced, and fails at random.
internal import SightlineClient
internal import Synchronization
internal import TestSupport

/// A crash of the process keeps all; a power cut keeps of each file what was synced, and of what
/// came after it any beginning, the last write of it torn. Names that were removed may come back, and
/// those that were made may go, until names are synced.
final class ForgetfulDisk: SpoolDisk {
    /// A disk, or its user, with a bug, to see that histories find it.
    enum Plant: CaseIterable {
        case ignoresSyncs, ignoresSyncsOfOldSegments, ignoresSyncsOfFoundFiles
        case ignoresSyncsOfNames, keepsHalfOfFailedWrites
    }

    private enum Change {
        case append([UInt8])
        case truncate(Int)
    }

    fileprivate struct File {
        var durable: [UInt8] = []
        private(set) var content: [UInt8] = []
        private var changes: [Change] = []

        mutating func append(_ bytes: [UInt8]) {
            self.content += bytes
            self.changes.append(.append(bytes))
        }

        mutating func truncate(_ count: Int) {
            self.content = Array(self.content.prefix(count))
            self.changes.append(.truncate(count))
        }

        mutating func sync() {
            self.durable = self.content
            self.changes = []
        }

        /// What a power cut leaves: some of the changes, the last one torn.
        mutating func cutPower(_ dice: inout Dice) {
            self.content = self.durable
            let keptCount = dice.below(self.changes.count + 1)
            for change in self.changes.prefix(keptCount) { self.apply(change) }
            if keptCount < self.changes.count, case .append(let bytes) = self.changes[keptCount] {
                let kept = bytes.prefix(dice.below(bytes.count + 1))
                self.content += kept
                // A size may be durable before the bytes are.
                if dice.chance(30) {
                    self.content += [UInt8](repeating: 0, count: bytes.count - kept.count)
                }
            }
            self.sync()
        }

        private mutating func apply(_ change: Change) {
            switch change {
            case .append(let bytes): self.content += bytes
            case .truncate(let count): self.content = Array(self.content.prefix(count))
            }
        }
    }

    private struct State {
        var dice: Dice
        var files: [UInt64: File] = [:]
        var removed: [UInt64: File] = [:]
        var made: Set<UInt64> = []
        var isGroupSync = false
        var failsPercent = 0
    }

    private let plant: Plant?
    private let state: Mutex<State>

    init(seed: UInt64, plant: Plant? = nil) {
        self.plant = plant
        self.state = Mutex(State(dice: Dice(seed: seed)))
    }

    /// How many writes in a hundred fail.
    func fail(_ percent: Int) { self.state.withLock { $0.failsPercent = percent } }

    /// The bytes of all files.
    var byteCount: Int {
        self.state.withLock { $0.files.values.reduce(0) { $0 + $1.content.count } }
    }

    /// Says that a sync is that of the group commit.
    func inGroupSync(_ body: () throws -> Void) rethrows {
        self.state.withLock { $0.isGroupSync = true }
        defer { self.state.withLock { $0.isGroupSync = false } }
        try body()
    }

    func cutPower() {
        self.state.withLock { state in
            for (number, file) in state.removed where state.dice.chance(50) {
                state.files[number] = file
            }
            for number in state.made where state.dice.chance(50) { state.files[number] = nil }
            for number in state.files.keys.sorted() {
                state.files[number]?.cutPower(&state.dice)
            }
            state.removed = [:]
            state.made = []
        }
    }

    // MARK: SpoolDisk

    func segments() throws(SpoolError) -> [UInt64] {
        self.state.withLock { $0.files.keys.sorted() }
    }

    func contents(of segment: UInt64) throws(SpoolError) -> [UInt8] {
        self.state.withLock { $0.files[segment]?.content ?? [] }
    }

    func open(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        Handle(disk: self, segment: segment, wasFound: true)
    }

    func create(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        try self.failSometimes("open", segment)
        self.state.withLock { state in
            state.files[segment] = File()
            if self.plant == .ignoresSyncsOfNames {
                state.made.insert(segment)
            } else {
                state.removed = [:]
                state.made = []
            }
        }
        return Handle(disk: self, segment: segment, wasFound: false)
    }

    func remove(_ segment: UInt64) throws(SpoolError) {
        self.state.withLock { $0.removed[segment] = $0.files.removeValue(forKey: segment) }
    }

    func path(of segment: UInt64) -> String { "\(segment).spool" }

    private func failSometimes(_ operation: String, _ segment: UInt64) throws(SpoolError) {
        let fails = self.state.withLock { $0.failsPercent > 0 && $0.dice.chance($0.failsPercent) }
        guard !fails else {
            throw .failed(operation: operation, file: self.path(of: segment), reason: "no room")
        }
    }

    private struct Handle: SpoolFile {
        let disk: ForgetfulDisk
        let segment: UInt64
        let wasFound: Bool

        func append(_ bytes: [UInt8]) throws(SpoolError) {
            do {
                try self.disk.failSometimes("write", self.segment)
            } catch {
                self.change { $0.files[self.segment]?.append(Array(bytes.prefix(bytes.count / 2))) }
                throw error
            }
            self.change { $0.files[self.segment]?.append(bytes) }
        }

        func truncate(to byteCount: Int) throws(SpoolError) {
            if self.disk.plant == .keepsHalfOfFailedWrites, !self.wasFound { return }
            self.change { $0.files[self.segment]?.truncate(byteCount) }
        }

        func sync() throws(SpoolError) {
            switch self.disk.plant {
            case .ignoresSyncs: return
            case .ignoresSyncsOfFoundFiles where self.wasFound: return
            case .ignoresSyncsOfOldSegments
            where !self.wasFound && !self.disk.state.withLock({ $0.isGroupSync }): return
            default: self.change { $0.files[self.segment]?.sync() }
            }
        }

        private func change(_ body: (inout State) -> Void) {
            self.disk.state.withLock { body(&$0) }
        }
    }
}

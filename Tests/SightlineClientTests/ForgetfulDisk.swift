// A disk for spools that loses at random what was not synced, and fails at random.
internal import SightlineClient
internal import Synchronization
internal import TestSupport

/// A crash of the process keeps all; a power cut keeps of each file what was synced, and of what
/// came after it any beginning, the last write of it torn. Of marks, which are written anywhere in
/// their file, it keeps any of the writes. Names that were removed may come back, and those that
/// were made may go, until names are synced.
final class ForgetfulDisk: SpoolDisk {
    /// A disk, or its user, with a bug, to see that histories find it.
    enum Plant: CaseIterable {
        case ignoresSyncs, ignoresSyncsOfOldSegments, ignoresSyncsOfFoundFiles
        case ignoresSyncsOfNames, keepsHalfOfFailedWrites, ignoresSyncsOfMarks
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

    /// A segment's file of marks.
    private struct Marks {
        var durable: [UInt8] = []
        private(set) var content: [UInt8] = []
        private var changes: [(place: Int, bytes: [UInt8])] = []

        mutating func write(_ bytes: [UInt8], at place: Int) {
            self.apply(bytes, at: place)
            self.changes.append((place, bytes))
        }

        mutating func sync() {
            self.durable = self.content
            self.changes = []
        }

        /// What a power cut leaves: any of the changes.
        mutating func cutPower(_ dice: inout Dice) {
            let changes = self.changes
            self.content = self.durable
            for (place, bytes) in changes where dice.chance(50) { self.apply(bytes, at: place) }
            self.sync()
        }

        private mutating func apply(_ bytes: [UInt8], at place: Int) {
            let gap = place + bytes.count - self.content.count
            if gap > 0 { self.content += [UInt8](repeating: 0, count: gap) }
            self.content.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
    }

    /// The files of one kind, by their segments.
    private struct Names<Content> {
        var files: [UInt64: Content] = [:]
        var removed: [UInt64: Content] = [:]
        var made: Set<UInt64> = []

        mutating func make(_ segment: UInt64, _ content: Content) {
            self.files[segment] = content
            self.made.insert(segment)
        }

        mutating func remove(_ segment: UInt64) {
            guard let file = self.files.removeValue(forKey: segment) else { return }
            // One that was made since names were synced, and another one before it, is not kept.
            self.removed[segment] = self.removed[segment] ?? file
        }

        mutating func sync() {
            self.removed = [:]
            self.made = []
        }

        mutating func cutPower(_ dice: inout Dice) {
            for number in self.made.sorted() where dice.chance(50) { self.files[number] = nil }
            for number in self.removed.keys.sorted() where self.files[number] == nil {
                if dice.chance(50) { self.files[number] = self.removed[number] }
            }
            self.sync()
        }
    }

    private struct State {
        var dice: Dice
        var segments = Names<File>()
        var marks = Names<Marks>()
        var isGroupSync = false
        var failsPercent = 0
        var failsNextSync = false
    }

    private let plant: Plant?
    private let state: Mutex<State>

    init(seed: UInt64, plant: Plant? = nil) {
        self.plant = plant
        self.state = Mutex(State(dice: Dice(seed: seed)))
    }

    /// How many writes in a hundred fail.
    func fail(_ percent: Int) { self.state.withLock { $0.failsPercent = percent } }

    /// Lets the next sync of a segment fail, and those after it work, as the system does.
    func failNextSync() { self.state.withLock { $0.failsNextSync = true } }

    /// The bytes of all files.
    var byteCount: Int {
        self.state.withLock { state in
            state.segments.files.values.reduce(0) { $0 + $1.content.count }
                + state.marks.files.values.reduce(0) { $0 + $1.content.count }
        }
    }

    /// The bytes of a segment's file; nil if there is none.
    func byteCount(of segment: UInt64) -> Int? {
        self.state.withLock { $0.segments.files[segment]?.content.count }
    }

    /// Says that a sync is that of the group commit.
    func inGroupSync(_ body: () throws -> Void) rethrows {
        self.state.withLock { $0.isGroupSync = true }
        defer { self.state.withLock { $0.isGroupSync = false } }
        try body()
    }

    func cutPower() {
        self.state.withLock { state in
            state.segments.cutPower(&state.dice)
            for number in state.segments.files.keys.sorted() {
                state.segments.files[number]?.cutPower(&state.dice)
            }
            state.marks.cutPower(&state.dice)
            for number in state.marks.files.keys.sorted() {
                state.marks.files[number]?.cutPower(&state.dice)
            }
        }
    }

    // MARK: SpoolDisk

    func segments() throws(SpoolError) -> [UInt64] {
        self.state.withLock { $0.segments.files.keys.sorted() }
    }

    func contents(of segment: UInt64) throws(SpoolError) -> [UInt8] {
        self.state.withLock { $0.segments.files[segment]?.content ?? [] }
    }

    func open(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        Handle(disk: self, segment: segment, wasFound: true)
    }

    func create(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        try self.failSometimes("open", segment)
        self.state.withLock { $0.segments.make(segment, File()) }
        try self.syncNames()
        return Handle(disk: self, segment: segment, wasFound: false)
    }

    func remove(_ segment: UInt64) throws(SpoolError) {
        self.state.withLock { $0.segments.remove(segment) }
    }

    func marked() throws(SpoolError) -> [UInt64] {
        self.state.withLock { $0.marks.files.keys.sorted() }
    }

    func marks(of segment: UInt64) throws(SpoolError) -> [UInt8] {
        self.state.withLock { $0.marks.files[segment]?.content ?? [] }
    }

    func write(_ marks: [UInt8], at byte: Int, toMarksOf segment: UInt64) throws(SpoolError) {
        self.state.withLock { state in
            if state.marks.files[segment] == nil {
                state.marks.make(segment, Marks())
                state.marks.files[segment]?.write(SpoolMarks.magic, at: 0)
            }
            state.marks.files[segment]?.write(marks, at: byte)
        }
    }

    func syncMarks(of segment: UInt64) throws(SpoolError) {
        if self.plant == .ignoresSyncsOfMarks { return }
        self.state.withLock { $0.marks.files[segment]?.sync() }
    }

    func removeMarks(of segment: UInt64) throws(SpoolError) {
        self.state.withLock { $0.marks.remove(segment) }
    }

    func syncNames() throws(SpoolError) {
        if self.plant == .ignoresSyncsOfNames { return }
        self.state.withLock { state in
            state.segments.sync()
            state.marks.sync()
        }
    }

    func path(of segment: UInt64) -> String { "\(segment).spool" }

    private func failSometimes(_ operation: String, _ segment: UInt64) throws(SpoolError) {
        let fails = self.state.withLock { $0.failsPercent > 0 && $0.dice.chance($0.failsPercent) }
        guard !fails else {
            throw .failed(operation: operation, file: self.path(of: segment), reason: "no room")
        }
    }

    private func failOnce(_ segment: UInt64) throws(SpoolError) {
        let fails = self.state.withLock { state in
            defer { state.failsNextSync = false }
            return state.failsNextSync
        }
        guard !fails else {
            throw .failed(operation: "sync", file: self.path(of: segment), reason: "an I/O error")
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
                self.change { $0?.append(Array(bytes.prefix(bytes.count / 2))) }
                throw error
            }
            self.change { $0?.append(bytes) }
        }

        func truncate(to byteCount: Int) throws(SpoolError) {
            if self.disk.plant == .keepsHalfOfFailedWrites, !self.wasFound { return }
            self.change { $0?.truncate(byteCount) }
        }

        func sync() throws(SpoolError) {
            try self.disk.failOnce(self.segment)
            switch self.disk.plant {
            case .ignoresSyncs: return
            case .ignoresSyncsOfFoundFiles where self.wasFound: return
            case .ignoresSyncsOfOldSegments
            where !self.wasFound && !self.disk.state.withLock({ $0.isGroupSync }): return
            default: self.change { $0?.sync() }
            }
        }

        private func change(_ body: (inout File?) -> Void) {
            self.disk.state.withLock { body(&$0.segments.files[self.segment]) }
        }
    }
}

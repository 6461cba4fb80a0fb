// One sink of a history: its backend, and what the journal has promised and told it.
internal import TrackingJournal
internal import TrackingRules

/// A sink across the processes of a history.
final class SinkHistory: @unchecked Sendable {
    let plan: SinkPlan
    let remote = Remote()
    var letters = LetterHistory()
    /// The process's side of it: the newest, which alone may be used.
    weak var newest: RemoteSink?
    /// As the configuration has it.
    private(set) var journalSink: JournalSink
    private(set) var listing: Listing
    /// Whether it is being forgotten.
    private(set) var isForgetting = false
    /// Where it began; nil if the journal may not know it.
    private(set) var begin: Begin?
    /// Where it would begin if a change of the sinks that was not completed holds.
    private var attempt: Int64?
    /// Whether where it is was ever certainly durable.
    private var isDurable = false
    /// Its cursor when it was removed.
    private var left: Int64?
    /// The group before the oldest that was kept when it began to be required; nil if it is not.
    private var requiredAfter: Int64?
    /// The gaps that it was told of before that.
    private var toldBefore: [MissedGroups] = []
    private(set) var required: [Required] = []
    /// Whether it was required all the time.
    private(set) var isSteady: Bool

    /// Whether the configuration lists it.
    enum Listing {
        case later, listed, removed
    }

    /// Groups that went while a sink was required.
    struct Required {
        let groups: ClosedRange<Int64>
        /// What it was told of before: a process that is killed may leave these groups in the
        /// journal, and the sink's place after them.
        let told: [MissedGroups]

        /// Whether the sink has to have a group.
        func holds(_ sequence: Int64) -> Bool {
            self.groups.contains(sequence)
                && !self.told.contains { $0.sequences.contains(sequence) }
        }
    }

    /// Where a sink began.
    struct Begin {
        /// It is owed no group up to this one, and given none where it begins with the newest.
        let low: Int64
        /// It is owed every group after this one.
        let high: Int64
        let isLate: Bool
    }

    init(_ plan: SinkPlan) {
        self.plan = plan
        self.journalSink = plan.journalSink
        self.listing = .later
        self.isSteady = plan.journalSink.isRequired
    }

    var name: String { self.plan.name }

    private func place(in journal: Journal) -> Int64 {
        self.journalSink.start == .newest
            ? journal.lastSequence : journal.sequence(before: .min)
    }

    // MARK: A change of the sinks

    /// It is put on the list of a process that begins.
    func isListed() { self.listing = .listed }

    /// An operator lists it, while a process runs.
    func add(_ isRequired: Bool, _ start: JournalSink.Start, maxLagBytes: Int, to journal: Journal)
    {
        self.listing = .listed
        let isNew = self.begin == nil && self.attempt == nil
        self.change(isRequired, start: isNew ? start : self.journalSink.start, maxLagBytes)
        if self.begin == nil {
            let place = self.place(in: journal)
            self.attempt = min(self.attempt ?? place, place)
        }
    }

    /// An operator takes it off the list.
    func remove(from journal: Journal) {
        self.listing = .removed
        self.isSteady = false
        self.endsRequired(in: journal)
    }

    /// An operator changes whether it is required.
    func set(_ isRequired: Bool, maxLagBytes: Int, in journal: Journal) {
        self.change(isRequired, start: self.journalSink.start, maxLagBytes)
        if !isRequired { self.endsRequired(in: journal) }
    }

    private func change(_ isRequired: Bool, start: JournalSink.Start, _ maxLagBytes: Int) {
        self.isSteady = self.isSteady && isRequired
        self.journalSink = JournalSink(
            self.name, maxLagBytes: isRequired ? nil : maxLagBytes, start: start)
    }

    /// The journal has it, and no forwarder of it has begun yet.
    ///
    /// - Parameters:
    ///   - isDurable: whether that is on disk.
    ///   - told: the gaps that it was told of.
    /// - Throws: `Violation` if it does not go on where it was.
    func comes(to journal: Journal, isDurable: Bool, told: [MissedGroups]) throws {
        let cursor = journal.cursor(of: self.name)
        if let left, left != cursor {
            throw Violation("\(self.name) was removed at \(left), and goes on after \(cursor)")
        }
        self.left = nil
        self.letters.newForwarder()
        if self.begin == nil {
            let place = self.place(in: journal)
            let isLate = self.journalSink.start == .newest
            // A process that begins may let groups go before this is asked; they are its gap.
            let first = isLate ? place : min(place, cursor)
            self.begin = Begin(
                low: min(self.attempt ?? first, place), high: place, isLate: isLate)
            self.attempt = nil
        }
        if let begin, cursor < begin.low {
            throw Violation("\(self.name) begins after \(begin.low), and not after \(cursor)")
        }
        self.changed(in: journal, isDurable: isDurable, told: told)
    }

    /// A change of the sinks has come to its end; this one was and is listed.
    func changed(in journal: Journal, isDurable: Bool, told: [MissedGroups]) {
        self.isDurable = self.isDurable || isDurable
        if self.journalSink.isRequired, self.requiredAfter == nil {
            self.requiredAfter = journal.sequence(before: .min)
            self.toldBefore = told
        }
    }

    /// Its removal is on disk.
    func isRemoved(from journal: Journal) {
        self.isDurable = true
        self.left = journal.cursor(of: self.name)
    }

    /// It ceases to be required, or its process ends.
    private func endsRequired(in journal: Journal) {
        guard let start = self.requiredAfter else { return }
        let end = journal.sequence(before: .min)
        if end > start {
            self.required.append(Required(groups: start + 1...end, told: self.toldBefore))
        }
        self.requiredAfter = nil
    }

    // MARK: Forgetting

    /// Whether an operator may have it forgotten.
    var canBeForgotten: Bool {
        self.listing == .removed && !self.isForgetting && self.begin != nil
    }

    func willBeForgotten() { self.isForgetting = true }

    /// - Parameter isKnown: whether the journal knew it.
    /// - Throws: `Violation` if it does not know a sink that was removed.
    func isForgotten(_ isKnown: Bool) throws {
        self.isForgetting = false
        if !isKnown, self.left != nil {
            throw Violation("\(self.name) was removed, and the journal does not know it")
        }
        (self.begin, self.attempt, self.left, self.required) = (nil, nil, nil, [])
        self.isDurable = false
        self.remote.clear()
    }

    // MARK: A process

    /// Its process has ended, perhaps in the middle of a change.
    ///
    /// - Parameters:
    ///   - journal: the process's; nil if it did not start.
    ///   - isOff: whether the journal has ended as well.
    func processEnded(_ journal: Journal?, isOff: Bool) {
        if let journal { self.endsRequired(in: journal) }
        let isLeaving = self.listing == .removed && self.left == nil && !self.isDurable
        if self.isForgetting || isLeaving { self.doubt() }
        self.isForgetting = false
        if isOff { (self.begin, self.attempt, self.left, self.isDurable) = (nil, nil, nil, false) }
    }

    /// The journal may know it or not: it goes on where it was, or begins anew.
    private func doubt() {
        self.attempt = self.attempt ?? self.begin?.low
        (self.begin, self.left, self.isDurable) = (nil, nil, false)
    }

    /// Whether an ack of a hit says that this sink has it, in `journal.mode: off`.
    func isPromised(_ sequence: Int64) -> Bool {
        guard let begin, let requiredAfter else { return false }
        return sequence > max(begin.high, requiredAfter)
    }
}

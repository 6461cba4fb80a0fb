/// An event that the rules accepted. The deduplication window grants it the hits that are new, when
/// the journal's writer seals its group: that reads all of them, so they are kept small.
package struct AcceptedEvent: Sendable {
    /// The key of the event's hits.
    package let key: HitKey
    /// The key of the plain notification; differs from `key` only for an action button (D17, D18).
    package let notification: HitKey
    private let offset: UInt32
    /// The event's index in its request.
    package let index: UInt32
    /// The index of its subject in the request's ledger.
    package let subject: UInt32
    /// The hits that the rules gave.
    package let kinds: HitKinds
    /// The event's warnings; settling adds those that depend on the window.
    package var warnings: Warnings
    /// The hits that are new: those of the rules until the event is settled. Empty means that the
    /// event is a duplicate.
    package var granted: HitKinds
    /// Where the event has the fields that an answer shows.
    let answer: AnswerSlices
    /// Whether the hits report a dismissal.
    package let isDismissal: Bool
    /// What the ledger counts beside the event's own outcome: an impression of a closed app on iOS,
    /// and once the event is settled, that its notification has been sent and has failed.
    package private(set) var beside: LedgerOutcome?
    /// Whether settling changed the hits or warnings, so that the entry has to be rewritten.
    package private(set) var isChanged = false

    init(
        key: HitKey, notification: HitKey, judgement: Judgement, index: UInt32, entryOffset: Int,
        subject: UInt32 = 0, answer: AnswerSlices = AnswerSlices(),
        isClosedImpression: Bool = false
    ) {
        self.key = key
        self.notification = notification
        self.offset = UInt32(truncatingIfNeeded: entryOffset)
        self.index = index
        self.subject = subject
        self.kinds = judgement.hits
        self.warnings = judgement.warnings
        self.granted = judgement.hits
        self.answer = answer
        self.isDismissal = judgement.isDismissal
        self.beside = isClosedImpression ? .closedImpression : nil
    }

    /// The offset of the event's entry in the request's entries.
    package var entryOffset: Int { Int(self.offset) }

    /// Grants the hits that the window does not hold.
    ///
    /// - Parameters:
    ///   - known: what the window holds under the event's key.
    ///   - notification: what it holds under the plain notification's key.
    package mutating func settle(known: Marks, notification: Marks) {
        let warnings = self.warnings
        defer { self.isChanged = self.granted != self.kinds || self.warnings != warnings }
        self.granted = known.missing(in: self.kinds)
        guard !self.granted.isEmpty else { return }
        if self.kinds.rawValue & HitKinds.attempts.rawValue != 0 {
            // It is the one that was not known; a fact of a sender has no other kind.
            let isOtherKnown = known.rawValue & HitKinds.attempts.rawValue != 0
            self.beside = isOtherKnown ? .sentAndFailed : nil
            return
        }
        let opens = self.granted.contains(HitKinds(.open))
        let isClicked = notification.contains(.clicked)
        if opens, !self.kinds.contains(HitKinds(.click)), !isClicked {
            self.warnings.insert(.openWithoutClick)
        }
        if opens, notification.contains(.dismissed) { self.warnings.insert(.openAfterDismiss) }
        if self.granted.contains(HitKinds(.impression)), isClicked {
            self.warnings.insert(.impressionAfterClick)
        }
    }

    /// What the window stores under the event's key.
    package var marks: Marks { Marks(kinds: self.kinds) }

    /// What the window stores under the notification's key, for the funnel warnings (D18).
    package var notificationMarks: Marks {
        var marks = self.kinds.contains(HitKinds(.click)) ? Marks.clicked : Marks(rawValue: 0)
        if self.isDismissal { marks.insert(.dismissed) }
        return marks
    }
}

/// What the deduplication window stores for a key: bit n is set for the HitKind with number n.
/// Under a push notification's key, bits 14 and 15 serve the funnel warnings instead: the kinds
/// with these numbers are of in-app messages, and the two have different keys (`HitKey`).
package struct Marks: OptionSet, Sendable, Equatable {
    /// One bit for each member, as the comment on the type assigns them.
    package let rawValue: UInt16
    /// Creates marks from their bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Creates the marks of `kinds`.
    package init(kinds: HitKinds) { self.init(rawValue: kinds.rawValue) }

    /// The notification, or one of its buttons, was clicked.
    package static let clicked = Marks(rawValue: 1 << 14)
    /// The notification was dismissed.
    package static let dismissed = Marks(rawValue: 1 << 15)

    /// The kinds among an event's that are not marked under its key. A notification's own bits 14
    /// and 15 hide none: no event of a notification has those kinds.
    package func missing(in kinds: HitKinds) -> HitKinds {
        HitKinds(rawValue: kinds.rawValue & ~self.rawValue)
    }
}

// The window calls these for every event from another module, where SetAlgebra's versions would be
// unspecialized generic code.
extension Marks {
    /// Whether no mark is set.
    package var isEmpty: Bool { self.rawValue == 0 }

    /// The marks that are set in either.
    package func union(_ other: Marks) -> Marks { Marks(rawValue: self.rawValue | other.rawValue) }
}

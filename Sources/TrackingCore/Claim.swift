// What an accepted event claims of the window of recent hits, and what it was granted.

/// One accepted event's claim. The journal's writer settles it as it seals a group.
package struct Claim: Sendable {
    /// The key of the event's hits.
    package let key: HitKey
    /// The plain notification's key: the same but for an event with an action button (D17, D18).
    package let notification: HitKey
    /// The hits that the rules gave.
    package let kinds: HitKinds
    /// Whether they stand for a dismissal.
    package let isDismissal: Bool
    /// The event's place in its request.
    package let index: UInt32
    /// Where its entry starts in the request's entries.
    package let entryOffset: Int
    /// What looks wrong; settling adds what the window tells.
    package var warnings: Warnings
    /// The hits that are new: all of `kinds` until it is settled. None makes it a duplicate.
    package var granted: HitKinds

    /// Whether settling gave it other hits or warnings than the rules had.
    package private(set) var isChanged = false

    /// A claim of all the hits that the rules gave.
    init(
        key: HitKey, notification: HitKey, judgement: Judgement, index: UInt32, entryOffset: Int
    ) {
        self.key = key
        self.notification = notification
        self.kinds = judgement.hits
        self.isDismissal = judgement.isDismissal
        self.index = index
        self.entryOffset = entryOffset
        self.warnings = judgement.warnings
        self.granted = judgement.hits
    }

    /// Settles the claim against what the window knows of its fact and of its notification.
    package mutating func settle(known: Marks, notification: Marks) {
        let warnings = self.warnings
        defer { self.isChanged = self.granted != self.kinds || self.warnings != warnings }
        self.granted = self.kinds.subtracting(known.kinds)
        guard !self.granted.isEmpty else { return }
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

    /// What the window keeps under the fact's own key.
    package var marks: Marks { Marks(kinds: self.kinds) }

    /// What the window keeps under the notification's key, for the funnel.
    package var notificationMarks: Marks {
        var marks = self.kinds.contains(HitKinds(.click)) ? Marks.clicked : Marks(rawValue: 0)
        if self.isDismissal { marks.insert(.dismissed) }
        return marks
    }
}

/// What the window of recent hits keeps of a key: bit n for the HitKind with the number n, and two
/// for the funnel.
package struct Marks: OptionSet, Sendable, Equatable {
    /// One bit for each member, as the comment on the type assigns them.
    package let rawValue: UInt16
    /// The marks of these bits.
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The marks of hits.
    package init(kinds: HitKinds) { self.init(rawValue: kinds.rawValue) }

    /// The notification was clicked, perhaps by one of its buttons.
    package static let clicked = Marks(rawValue: 1 << 14)
    /// The notification was dismissed.
    package static let dismissed = Marks(rawValue: 1 << 15)

    /// The hits among them.
    package var kinds: HitKinds { HitKinds(rawValue: self.rawValue & 0x3fff) }
}

// The window asks this for every event, from another module: what SetAlgebra brings would be
// generic code there.
extension Marks {
    /// Whether there is none.
    package var isEmpty: Bool { self.rawValue == 0 }

    /// The marks that are in one of both.
    package func union(_ other: Marks) -> Marks { Marks(rawValue: self.rawValue | other.rawValue) }
}

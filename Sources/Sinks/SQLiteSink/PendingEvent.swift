internal import TrackingRules

/// An event of a batch whose keys are being looked up, with the indices of its keys in the lookup.
struct PendingEvent {
    let event: JournalEvent
    let request: Hit.Request
    /// Its own key.
    let fact: Int
    /// The key of its notification, if it differs: the event names an action button (D17).
    var notification: Int?
    /// The key of its message and recipient, for in-app messages.
    var recipient: Int?
}

/// The marks of a key in `HitIndex`: the kinds of hits that were counted (bits 1 to 10), the kinds
/// of hits of the notification's action buttons (bits 11 to 13), and recipients (bit 14).
struct HitMarks {
    let rawValue: UInt16

    static let recipient = HitMarks(rawValue: 1 << 14)
    private static let buttonShift: UInt16 = 10

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The marks that a button's hits add to their notification.
    init(ofButton kinds: HitKinds) {
        self.rawValue = (kinds.rawValue & 0b1110) << Self.buttonShift
    }

    /// The kinds of hits of the notification, with or without a button.
    var kinds: HitKinds {
        HitKinds(rawValue: self.rawValue & 0x7fe | self.rawValue >> Self.buttonShift & 0b1110)
    }
}

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
/// of hits of the notification's action buttons (bits 11 to 13), and recipients (bit 14). What a
/// sender reports takes the bits 7 to 9 of a notification, which has no hits of in-app messages.
/// Triggers of an in-app message, bits 14 and 15, are never under the key of a recipient.
struct HitMarks {
    let rawValue: UInt16

    static let recipient = HitMarks(rawValue: 1 << 14)
    private static let buttonShift: UInt16 = 10

    /// The bits that are those of their kinds.
    private static let inPlace: UInt16 = 0xc7fe

    /// From a sender's kinds to their bits.
    private static let sendShift: UInt16 = 4

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The marks of an event's hits.
    init(_ kinds: HitKinds) {
        let sends = kinds.rawValue & HitKinds.sends.rawValue
        self.rawValue = kinds.rawValue & ~sends | sends >> Self.sendShift
    }

    /// The marks that a button's hits add to their notification.
    init(ofButton kinds: HitKinds) {
        self.rawValue = (kinds.rawValue & 0b1110) << Self.buttonShift
    }

    /// The kinds among an event's that are not marked.
    func missing(in kinds: HitKinds) -> HitKinds {
        kinds.subtracting(
            HitKinds(
                rawValue: self.rawValue & Self.inPlace
                    | self.rawValue << Self.sendShift & HitKinds.sends.rawValue))
    }

    /// Whether an event of these kinds is the first to tell of an attempt to send the notification.
    func isFirstAttempt(_ kinds: HitKinds) -> Bool {
        !kinds.isDisjoint(with: .attempts)
            && self.rawValue << Self.sendShift & HitKinds.attempts.rawValue == 0
    }

    /// The kinds of hits of the notification that its recipient's device has reported, with or
    /// without a button.
    var reported: HitKinds {
        HitKinds(rawValue: self.rawValue & 0x7e | self.rawValue >> Self.buttonShift & 0b1110)
    }
}

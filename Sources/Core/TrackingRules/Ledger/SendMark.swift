/// What the ledger counts a sender's fact by, beside its outcome: why it was not sent, and who
/// shows it. The numbers are stored and must never change.
package struct SendMark: RawRepresentable, Hashable, Sendable {
    /// The reason's number in the lower four bits, the display's above.
    package let rawValue: UInt8
    /// Creates a mark from its number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// That of every event that no sender reports, and of a send that says neither.
    package static let none = SendMark(rawValue: 0)

    private static let displayShift: UInt8 = 4

    /// A mark from a reason and a display.
    package init(reason: SendReason? = nil, display: SendDisplay? = nil) {
        self.rawValue =
            UInt8(truncatingIfNeeded: reason?.rawValue ?? 0)
            | UInt8(truncatingIfNeeded: display?.rawValue ?? 0) << Self.displayShift
    }

    /// The mark of an event.
    init(_ event: EventView) {
        guard event.interaction == .pushSend else {
            self = .none
            return
        }
        self.init(
            reason: SendReason(rawValue: event.pushSend.reason),
            display: SendDisplay(rawValue: event.pushSend.display))
    }

    /// Why it was not sent; nil if nothing is said.
    package var reason: SendReason? { SendReason(rawValue: Int32(self.rawValue & 15)) }

    /// Who shows it; nil if nothing is said.
    package var display: SendDisplay? {
        SendDisplay(rawValue: Int32(self.rawValue >> Self.displayShift))
    }

    /// The part of the mark that facts with this outcome are counted by: the display of what was
    /// sent, and the reason of what was not; none of any other event.
    package func counted(as outcome: LedgerOutcome) -> SendMark {
        if outcome == .accepted(HitKinds(.sent)) { return SendMark(display: self.display) }
        let isNotSent =
            outcome == .accepted(HitKinds(.sendFailed))
            || outcome == .accepted(HitKinds(.sendSkipped))
        return isNotSent ? SendMark(reason: self.reason) : .none
    }
}

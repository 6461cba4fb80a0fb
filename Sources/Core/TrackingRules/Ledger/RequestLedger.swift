internal import WireFormat

/// A request's counts for the ledger. Those of refused events are final. An accepted event has its
/// subject's index in its accepted event, and is counted when the journal has settled it.
package struct RequestLedger: Sendable {
    /// The tenant that sent the request.
    package let tenant: String
    /// The hour of its receipt, in hours since 1970.
    package let hour: UInt32
    /// The events' subjects.
    package private(set) var subjects: LedgerSubjects
    /// Counts of suppressed and rejected events.
    package private(set) var refused: [Refused] = []

    /// The number of events that the rules refused for one reason.
    package struct Refused: Sendable {
        /// The index of their subject.
        package let subject: UInt32
        /// The verdict.
        package let outcome: LedgerOutcome
        /// The flag's value as shown to people, or the first violation's field and code.
        package let detail: String
        /// The number of events.
        package fileprivate(set) var count: UInt32
    }

    /// The longest value of a flag that is kept, in bytes; longer ones are cut.
    package static let flagBytes = 16
    /// The longest detail of a row, in bytes. A flag's value is cut to it once more, when it has
    /// been escaped.
    package static let detailBytes = 64
    /// How many of the last refusals an event is compared with. A batch with more of them gets
    /// repeated rows, which are joined later.
    private static let compared = 8

    /// - Parameter likely: the subject that its first event probably has.
    init(tenant: String, receiveTime: Int64, likely: LedgerSubject? = nil) {
        self.tenant = tenant
        self.subjects = LedgerSubjects(likely: likely)
        self.hour = UInt32(clamping: receiveTime / 3_600_000_000)
    }

    /// The index of the subject of an accepted event.
    mutating func subject(_ facts: EventFacts, of event: EventView) -> UInt32 {
        self.subjects.index(
            platform: facts.platform, product: facts.product, app: event.appID,
            delivery: facts.deliveryID, version: event.appVersion, mark: SendMark(event))
    }

    /// Counts an event that the rules refused.
    ///
    /// - Parameter isNamed: whether the recipient allows keeping the delivery (D23), and with it
    ///   the app's version.
    mutating func refuse(_ event: EventView, _ judgement: Judgement, isNamed: Bool) {
        let delivery = isNamed ? event.ledgerDelivery : .none
        // Of a sender's mistake the device's app has no part.
        let version =
            isNamed && event.interaction != .pushSend ? event.appVersion : .none
        let subject = self.subjects.index(
            platform: event.effectivePlatform, product: event.product, app: event.appID,
            delivery: delivery, version: version)
        let detail =
            judgement.verdict == .suppressedFlagUnknown ? event.shownFlag : judgement.brokenRule
        self.refuse(subject, .refused(judgement.verdict), detail)
    }

    /// Counts bytes that are not an event.
    mutating func refuse(_ judgement: Judgement) {
        let subject = self.subjects.index(
            platform: nil, product: .standard, app: .none, delivery: .none)
        self.refuse(subject, .refused(judgement.verdict), judgement.brokenRule)
    }

    private mutating func refuse(_ subject: UInt32, _ outcome: LedgerOutcome, _ detail: String) {
        let place = self.refused.suffix(Self.compared).lastIndex {
            $0.subject == subject && $0.outcome == outcome && $0.detail == detail
        }
        if let place {
            self.refused[place].count &+= 1
        } else {
            self.refused.append(
                Refused(subject: subject, outcome: outcome, detail: detail, count: 1))
        }
    }
}

extension EventView {
    /// The delivery under which a refused event counts; empty if the client's value cannot be a
    /// delivery id.
    fileprivate var ledgerDelivery: Bytes {
        if self.interaction == .inApp { return self.deliveryID }
        return self.deliveryID.isSafeID ? self.deliveryID : .none
    }

    /// The flag's value for people: at most 16 bytes of it, in printable ASCII, with escapes.
    fileprivate var shownFlag: String {
        let flag = (self.flag ?? .none).cut(to: RequestLedger.flagBytes).text
        var shown = ""
        for scalar in flag.unicodeScalars.map(\.shown) {
            guard shown.utf8.count + scalar.utf8.count <= RequestLedger.detailBytes else { break }
            shown += scalar
        }
        return shown
    }
}

extension Unicode.Scalar {
    /// The scalar if it is printable ASCII, else an escape such as `\u{43e}`. A backslash is
    /// doubled, so that it begins no escape.
    fileprivate var shown: String {
        if self == "\\" { return "\\\\" }
        guard (0x20...0x7e).contains(self.value) else {
            return "\\u{" + String(self.value, radix: 16) + "}"
        }
        return String(self)
    }
}

extension Judgement {
    /// The first violation's field and code; empty if there is none.
    fileprivate var brokenRule: String {
        self.violations.first.map { "\($0.field) \($0.code.name)" } ?? ""
    }
}

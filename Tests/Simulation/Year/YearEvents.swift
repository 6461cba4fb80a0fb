// What is sent in a year. An event's number tells everything of it, so that none is remembered.
internal import SQLiteSink
internal import SightlineProtos
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules

/// Makes the requests of a year.
struct YearEvents {
    let plan: YearPlan
    let dice: Dice

    static let tenants = ["acme", "globex", "initech"]
    /// The recipients of each tenant.
    static let subjectCount = 500
    /// The most groups by which the hits of a request are counted: impressions, clicks and opens,
    /// and what was sent, failed and was skipped, on two platforms.
    static let countedGroups = 12
    private static let kinds: [Sightline_V1_PushInteractionKind] = [
        .received, .received, .opened, .dismissed,
    ]

    /// What is told of a notification.
    enum Fact {
        /// What a device did with it.
        case push(Sightline_V1_PushInteractionKind)
        /// What became of an attempt to send it.
        case send(Sightline_V1_PushSendOutcome, isRetry: Bool)
    }

    /// What an event has to come to.
    enum Meaning {
        /// A new fact of a delivery.
        case fresh(delivery: String, Fact)
        /// A fact that counts already.
        case again
        /// Refused, and kept in the quarantine.
        case refused
        /// Refused, and kept nowhere, since it names a device (D62).
        case secret
        /// Of a recipient who has not opted in.
        case denied
    }

    struct Request {
        let tenant: String
        let bytes: [UInt8]
        let events: [(meaning: Meaning, event: TestEvent)]
    }

    /// The tenant of a request.
    static func tenant(of request: Int) -> String {
        self.tenants[request % self.tenants.count]
    }

    /// A subject's name by a number.
    static func subject(_ number: Int) -> String { "subject-\(number % self.subjectCount)" }

    /// A request by its number.
    func request(_ number: Int) throws -> Request {
        let events = (0..<self.plan.eventsPerRequest).map { self.event($0, of: number) }
        let messages = try events.map { try $0.event.bytes() }
        let bytes = WireWriter.message { request in
            request.field(1, varint: UInt64(number + 1))
            for message in messages { request.field(2, message) }
        }
        return Request(
            tenant: Self.tenant(of: number), bytes: bytes,
            events: events.map { ($0.meaning, $0.event) })
    }

    /// The facts of a request come first; behind them what does not count.
    private var factCount: Int { self.plan.eventsPerRequest * 7 / 10 }

    private func event(
        _ place: Int, of request: Int
    ) -> (event: TestEvent, meaning: Meaning) {
        if place < self.factCount {
            let (event, fact) = self.fact(place, of: request)
            return (event, .fresh(delivery: self.delivery(of: request), fact))
        }
        var (event, fact) = self.fact(place, of: request)
        switch self.dice.number(0...19) {
        case 0:
            switch fact {
            case .push: event.push.kind = .unspecified
            case .send: event.pushSend.outcome = .unspecified
            }
            event.appVersion = ""
            return (event, .refused)
        case 1:
            // Neither on nor off, in the payload of its platform.
            event = TestEvents.push(
                .received, id: self.number(place, of: request),
                delivery: self.delivery(of: request))
            event.subjectID = Self.subject(place)
            event.push.fcm.data.acsDeliveryTracking = "ON"
            return (event, .refused)
        case 2:
            event.consent = .optedOut
            return (event, .denied)
        case 3:
            event = TestEvents.send(
                .failed, id: self.number(place, of: request),
                delivery: self.delivery(of: request))
            event.subjectID = Self.subject(place)
            event.pushSend.providerMessageID = String(repeating: "a1b2c3d4", count: 8)
            return (event, .secret)
        default:
            guard let earlier = self.earlierRequest(of: request) else {
                event.consent = .optedOut
                return (event, .denied)
            }
            let again = self.fact(self.dice.number(0...self.factCount - 1), of: earlier)
            return (Self.triedAgain(again.event), .again)
        }
    }

    /// A request of the same tenant: mostly of the last day, else within `sqlite.unique_days`, of
    /// which a clock that is wrong by a day takes one at each end.
    private func earlierRequest(of request: Int) -> Int? {
        let days = self.dice.chance(0.8) ? 1 : self.plan.sqlite.uniqueDays - 3
        let turns = days * YearPlan.requestsPerDay / Self.tenants.count
        let earlier = request - Self.tenants.count * self.dice.number(1...turns)
        return earlier < 0 ? nil : earlier
    }

    private func number(_ place: Int, of request: Int) -> Int {
        request * self.plan.eventsPerRequest + place
    }

    private func delivery(of request: Int) -> String {
        String(0x5000 + request / YearPlan.requestsPerDay, radix: 16)
    }

    private func fact(_ place: Int, of request: Int) -> (event: TestEvent, fact: Fact) {
        let number = self.number(place, of: request)
        var (event, fact) =
            Self.sends[place % 20].map { self.send($0, number, of: request) }
            ?? self.push(number, of: request)
        event.subjectID = Self.subject(number / 7)
        event.appVersion = Self.version(of: number, in: request)
        return (event, fact)
    }

    private func push(_ number: Int, of request: Int) -> (event: TestEvent, fact: Fact) {
        let kind = Self.kinds[number % Self.kinds.count]
        let event = TestEvents.push(
            kind, id: number, on: number % 5 == 0 ? .ios : .android,
            delivery: self.delivery(of: request), app: "com.example.app")
        return (event, .push(kind))
    }

    // MARK: What a sender reports

    /// Which places of 20 are sends: one that is sent at once, one that fails and is sent then, and
    /// one that is skipped.
    private static let sends: [Int: (outcome: Sightline_V1_PushSendOutcome, isRetry: Bool)] = [
        12: (.sent, false), 13: (.failed, false), 14: (.sent, true), 15: (.skipped, false),
    ]

    private func send(
        _ send: (outcome: Sightline_V1_PushSendOutcome, isRetry: Bool), _ number: Int,
        of request: Int
    ) -> (event: TestEvent, fact: Fact) {
        var event = TestEvents.send(
            send.outcome, id: send.isRetry ? number - 1 : number,
            on: number / 20 % 5 == 0 ? .ios : .android, delivery: self.delivery(of: request),
            app: "com.example.app")
        event.pushSend.attempt = send.isRetry ? 2 : 1
        return (event, .send(send.outcome, isRetry: send.isRetry))
    }

    /// A further attempt with the same outcome, which is the same fact (D60).
    private static func triedAgain(_ event: TestEvent) -> TestEvent {
        guard case .pushSend = event.interaction else { return event }
        var event = event
        event.pushSend.attempt += 1
        if event.pushSend.outcome == .failed { event.pushSend.reason = .throttled }
        return event
    }

    /// The app's version by an event's number: most events have none, and some one of a few. In a
    /// day's last request others have one each, which are more than the ledger keeps.
    private static func version(of number: Int, in request: Int) -> String {
        let isLast = request % YearPlan.requestsPerDay == YearPlan.requestsPerDay - 1
        switch number % 16 {
        case 3: return "4.\(number / 16 % 5)"
        case 7, 11, 15: return isLast ? "0.\(number)" : ""
        default: return ""
        }
    }

    /// What a sender puts with a request: totals of the request's delivery, and newer ones of that
    /// of the day before.
    func totals(_ request: Int) -> [DeliveryTotals] {
        [request, request - YearPlan.requestsPerDay].filter { $0 >= 0 }.map { sent in
            var totals = DeliveryTotals(
                tenant: Self.tenant(of: request), delivery: self.delivery(of: sent))
            totals.name = "Sale of day \(sent / YearPlan.requestsPerDay)"
            totals.platforms = [
                .init(platform: .android, sent: request + 2, delivered: request + 1, failed: 1),
                .init(platform: .ios, delivered: request),
            ]
            return totals
        }
    }
}

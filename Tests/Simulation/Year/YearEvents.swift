// What is sent in a year. An event's number tells everything of it, so that none is remembered.
internal import SQLiteSink
internal import SightlineProtos
internal import TestSupport

/// Makes the requests of a year.
struct YearEvents {
    let plan: YearPlan
    let dice: Dice

    static let tenants = ["acme", "globex", "initech"]
    /// The recipients of each tenant.
    static let subjectCount = 500
    /// The most groups by which the hits of a request are counted: impressions, clicks and opens,
    /// on two platforms.
    static let countedGroups = 6
    private static let kinds: [Sightline_V1_PushInteractionKind] = [
        .received, .received, .opened, .dismissed,
    ]

    /// What an event has to come to.
    enum Meaning {
        /// A new fact of a delivery.
        case fresh(delivery: String, Sightline_V1_PushInteractionKind)
        /// A fact that counts already.
        case again
        /// Refused, and kept in the quarantine.
        case refused
        /// Of a recipient who has not opted in.
        case denied
    }

    struct Request {
        let tenant: String
        let bytes: [UInt8]
        let events: [(meaning: Meaning, subject: String)]
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
            events: events.map { ($0.meaning, $0.event.subjectID) })
    }

    /// The facts of a request come first; behind them what does not count.
    private var factCount: Int { self.plan.eventsPerRequest * 7 / 10 }

    private func event(
        _ place: Int, of request: Int
    ) -> (event: TestEvent, meaning: Meaning) {
        if place < self.factCount {
            let fact = self.fact(place, of: request)
            return (fact, .fresh(delivery: self.delivery(of: request), fact.push.kind))
        }
        var event = self.fact(place, of: request)
        switch self.dice.number(0...19) {
        case 0:
            event.push.kind = .unspecified
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
        default:
            guard let earlier = self.earlierRequest(of: request) else {
                event.consent = .optedOut
                return (event, .denied)
            }
            return (self.fact(self.dice.number(0...self.factCount - 1), of: earlier), .again)
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

    private func fact(_ place: Int, of request: Int) -> TestEvent {
        let number = self.number(place, of: request)
        var event = TestEvents.push(
            Self.kinds[number % Self.kinds.count], id: number,
            on: number % 5 == 0 ? .ios : .android, delivery: self.delivery(of: request),
            app: "com.example.app")
        event.subjectID = Self.subject(number / 7)
        return event
    }
}

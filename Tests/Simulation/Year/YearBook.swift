// The oracle: what has to be there, counted apart from the server.
internal import SightlineProtos
internal import TestSupport
internal import TrackingJournal
internal import TrackingRules

/// What a year has come to so far.
struct YearBook {
    /// The hits of a delivery.
    struct Funnel: Equatable {
        var impressions = 0
        var clicks = 0
        var opens = 0
        var attempted = 0
        var sent = 0
        var failed = 0
        var skipped = 0
    }

    /// The events of a day by their verdicts.
    struct Verdicts: Equatable {
        var accepted = 0
        var duplicate = 0
        var refused = 0
        /// Those with an app's version that were accepted, or duplicates.
        var versions = 0
    }

    /// The newest totals of a delivery, and the day of their put.
    struct Totals {
        let totals: DeliveryTotals
        let day: Int64
    }

    /// By tenant and delivery, from the first day on.
    private(set) var funnels: [String: Funnel] = [:]
    /// The hits that are counted, by the hour of receipt since 1970, from the first day on.
    private(set) var hits: [Int64: Int] = [:]
    /// The rows of hits.db.
    private(set) var rows = KeptByDay()
    private(set) var quarantined = KeptByDay()
    /// By the day of receipt.
    private(set) var verdicts: [Int64: Verdicts] = [:]
    /// By tenant and delivery.
    private(set) var totals: [String: Totals] = [:]
    /// Tenants and subjects.
    private(set) var forgotten: [(tenant: String, subject: String)] = []
    private var forgottenNames: Set<String> = []

    static func name(_ tenant: String, _ other: String) -> String { "\(tenant) \(other)" }

    func isForgotten(_ subject: String, of tenant: String) -> Bool {
        self.forgottenNames.contains(Self.name(tenant, subject))
    }

    /// Notes a request that was acknowledged.
    ///
    /// - Parameter time: that of its receipt by the server's clock, in microseconds since 1970.
    /// - Returns: how many of its events are kept in the quarantine.
    mutating func note(_ request: YearEvents.Request, _ tally: Tally, at time: Int64) -> Int {
        let day = time / YearClock.day
        var kept = 0
        for (meaning, event) in request.events {
            let subject = event.subjectID
            let isForgotten = self.isForgotten(subject, of: request.tenant)
            let name = isForgotten ? nil : Self.name(request.tenant, subject)
            switch meaning {
            case .fresh(let delivery, let fact):
                let key = Self.name(request.tenant, delivery)
                let count = self.funnels[key, default: Funnel()].add(fact)
                self.rows.add(count, on: day, of: name)
                self.hits[time / YearClock.hour, default: 0] += count
            case .refused where !isForgotten:
                self.quarantined.add(1, on: day, of: name)
                kept += 1
            case .refused, .again, .secret, .denied: break
            }
            if meaning.hasVersion, !event.appVersion.isEmpty {
                self.verdicts[day, default: Verdicts()].versions += 1
            }
        }
        self.verdicts[day, default: Verdicts()].accepted += tally.accepted
        self.verdicts[day, default: Verdicts()].duplicate += tally.duplicate
        self.verdicts[day, default: Verdicts()].refused += tally.suppressed + tally.rejected
        return kept
    }

    /// Notes totals that were put.
    ///
    /// - Parameter day: the day of the put by the server's clock.
    mutating func put(_ totals: [DeliveryTotals], on day: Int64) {
        for totals in totals {
            self.totals[Self.name(totals.tenant, totals.delivery)] = Totals(
                totals: totals, day: day)
        }
    }

    mutating func forget(_ subject: String, of tenant: String) {
        self.forgotten.append((tenant, subject))
        self.forgottenNames.insert(Self.name(tenant, subject))
        self.rows.erase(Self.name(tenant, subject))
        self.quarantined.erase(Self.name(tenant, subject))
    }

    /// Forgets what nobody asks for any more: the book has to stay small as well.
    mutating func drop(before day: Int64) {
        self.rows.drop(before: day)
        self.quarantined.drop(before: day)
        self.verdicts = self.verdicts.filter { $0.key >= day }
        self.totals = self.totals.filter { $0.value.day >= day }
    }
}

extension YearBook.Funnel {
    /// Adds the hits of a new fact; returns how many they are (D14).
    fileprivate mutating func add(_ fact: YearEvents.Fact) -> Int {
        switch fact {
        case .push(.received):
            self.impressions += 1
            return 1
        case .push(.opened):
            self.clicks += 1
            self.opens += 1
            return 2
        case .push:
            self.clicks += 1
            return 1
        case .send(let outcome, let isRetry):
            self.attempted += outcome == .skipped || isRetry ? 0 : 1
            self.sent += outcome == .sent ? 1 : 0
            self.failed += outcome == .failed ? 1 : 0
            self.skipped += outcome == .skipped ? 1 : 0
            return 1
        }
    }
}

extension YearEvents.Meaning {
    /// Whether the ledger counts the event by its app's version.
    fileprivate var hasVersion: Bool {
        switch self {
        case .fresh, .again: true
        case .refused, .secret, .denied: false
        }
    }
}

/// What is kept of each day and subject.
struct KeptByDay {
    private(set) var days: [Int64: Int] = [:]
    private var subjects: [String: [Int64: Int]] = [:]

    mutating func add(_ count: Int, on day: Int64, of subject: String?) {
        self.days[day, default: 0] += count
        guard let subject else { return }
        self.subjects[subject, default: [:]][day, default: 0] += count
    }

    mutating func erase(_ subject: String) {
        for (day, count) in self.subjects.removeValue(forKey: subject) ?? [:] {
            self.days[day, default: 0] -= count
        }
    }

    mutating func drop(before day: Int64) {
        self.days = self.days.filter { $0.key >= day }
        self.subjects = self.subjects.mapValues { $0.filter { $0.key >= day } }
    }
}

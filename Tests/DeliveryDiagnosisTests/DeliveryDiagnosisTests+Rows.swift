// Rows of the ledger, as tests name them: of one delivery in one app, unless they say otherwise.
@testable internal import TrackingJournal
internal import TrackingRules

extension DeliveryDiagnosisTests {
    /// When the events were received.
    static let hour: UInt32 = 500_000

    static func row(
        _ outcome: LedgerOutcome, _ count: UInt64, _ platform: Platform? = .android,
        product: Product = .standard, detail: String = "", delivery: String = "56c4",
        counted: LedgerOutcome? = nil, version: String = "", mark: SendMark = .none,
        isOther: Bool = false
    ) -> LedgerRow {
        LedgerRow(
            tenant: "default", app: isOther ? "" : "com.example.shop", delivery: delivery,
            platform: platform, product: product, hour: Self.hour, outcome: outcome,
            detail: detail, counted: counted, appVersion: version, mark: mark, isOther: isOther,
            count: count)
    }

    static func hits(
        _ count: UInt64, _ kinds: HitKind..., on platform: Platform? = .android,
        product: Product = .standard
    ) -> LedgerRow {
        Self.row(
            .accepted(HitKinds(rawValue: kinds.reduce(0) { $0 | HitKinds($1).rawValue })), count,
            platform, product: product)
    }

    static func flag(
        _ value: String, _ count: UInt64, _ platform: Platform? = .android
    ) -> LedgerRow {
        Self.row(.refused(.suppressedFlagUnknown), count, platform, detail: value)
    }

    static func warning(
        _ warning: Warnings, _ count: UInt64, _ platform: Platform? = .android
    ) -> LedgerRow {
        Self.row(.warning(warning.numbers[0]), count, platform)
    }

    /// Sends, and the row by who shows them.
    static func sent(
        _ count: UInt64, shownBy display: SendDisplay? = nil, on platform: Platform? = .android,
        delivery: String = "56c4"
    ) -> [LedgerRow] {
        let outcome = LedgerOutcome.accepted(HitKinds(.sent))
        let own = Self.row(outcome, count, platform, delivery: delivery)
        guard let display else { return [own] }
        let mark = SendMark(display: display)
        return [own, Self.row(.send, count, platform, counted: outcome, mark: mark)]
    }

    /// What was not sent, and the row by its reason.
    static func notSent(
        _ count: UInt64, _ reason: SendReason, on platform: Platform? = .android,
        delivery: String = "56c4"
    ) -> [LedgerRow] {
        let kind: HitKind = reason == .noConsent ? .sendSkipped : .sendFailed
        let outcome = LedgerOutcome.accepted(HitKinds(kind))
        return [
            Self.row(outcome, count, platform, delivery: delivery),
            Self.row(
                .send, count, platform, delivery: delivery, counted: outcome,
                mark: SendMark(reason: reason)),
        ]
    }

    /// What was sent to a version, and how many impressions it gave; no row where there is none.
    static func version(
        _ version: String, sent: UInt64, impressions: UInt64, on platform: Platform = .android
    ) -> [LedgerRow] {
        [(HitKind.sent, sent), (.impression, impressions)].filter { $0.1 > 0 }.flatMap {
            kind, count in
            let outcome = LedgerOutcome.accepted(HitKinds(kind))
            return [
                Self.row(outcome, count, platform),
                Self.row(.version, count, platform, counted: outcome, version: version),
            ]
        }
    }
}

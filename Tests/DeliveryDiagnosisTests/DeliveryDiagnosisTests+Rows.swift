// Rows of the ledger, as tests name them: of one delivery in one app, unless they say otherwise.
@testable internal import TrackingJournal
internal import TrackingRules

extension DeliveryDiagnosisTests {
    static func row(
        _ outcome: LedgerOutcome, _ count: UInt64, _ platform: Platform? = .android,
        product: Product = .standard, detail: String = "", delivery: String = "56c4",
        isOther: Bool = false
    ) -> LedgerRow {
        LedgerRow(
            tenant: "default", app: isOther ? "" : "com.example.shop", delivery: delivery,
            platform: platform, product: product, hour: 500_000, outcome: outcome, detail: detail,
            isOther: isOther, count: count)
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
}

package import SightlineProtos
package import TrackingRules
internal import WireFormat

/// Decides which events a reader sees, and whether with personal data.
package struct TapFilter: Sendable {
    /// The tenant; nil for all.
    package let tenant: String?
    private let appID: String
    private let deliveryID: String
    /// The verdicts to show; empty for all.
    private let verdicts: Set<UInt8>
    /// The highest `chance` of an event in the sample.
    private let maxChance: UInt64
    /// Whether personal data is shown too.
    package let isUnmasked: Bool

    /// The maximum number of verdicts in a request: more than exist.
    static let maxVerdicts = 16

    /// Creates the filter of a request.
    ///
    /// - Parameter tenant: the reader's own tenant; nil for all.
    /// - Throws: the violation of a request that is out of bounds.
    package init(
        _ request: Sightline_V1_TapRequest, tenant: String?
    ) throws(TapRequestError) {
        try Self.limit("app_id", request.appID.utf8.count, to: Limits.nameBytes, "bytes")
        try Self.limit("delivery_id", request.deliveryID.utf8.count, to: Limits.nameBytes, "bytes")
        try Self.limit("verdicts", request.verdicts.count, to: Self.maxVerdicts, "verdicts")
        let ratio = request.samplingRatio
        // False for NaN as well.
        guard (0...1).contains(ratio) else {
            throw TapRequestError(
                violation: Violation(
                    "sampling_ratio", .range, "\(ratio) is no share: send 0 to 1, as in 0.01"))
        }
        self.tenant = tenant
        self.appID = request.appID
        self.deliveryID = request.deliveryID
        // A number that this server does not know matches no event.
        self.verdicts = Set(request.verdicts.map { UInt8(exactly: $0.rawValue) ?? 0 })
        self.maxChance = ratio == 0 || ratio == 1 ? .max : UInt64(ratio * 0x1p64)
        self.isUnmasked = request.unmasked
    }

    private static func limit(
        _ field: String, _ count: Int, to limit: Int, _ unit: String
    ) throws(TapRequestError) {
        guard count > limit else { return }
        throw TapRequestError(
            violation: Violation(
                field, .tooLarge, "\(count) \(unit), the limit is \(limit): send fewer"))
    }

    /// Whether the filter admits an event, judged without its names.
    func admits(_ outcome: AdmittedRequest.Outcome) -> Bool {
        outcome.chance <= self.maxChance
            && (self.verdicts.isEmpty || self.verdicts.contains(outcome.verdict.rawValue))
    }

    /// Whether the filter admits an event with these names; nil if nothing of it is kept.
    func admits(_ names: EventNames?) -> Bool {
        (self.appID.isEmpty || names?.appID.equals(self.appID) == true)
            && (self.deliveryID.isEmpty || names?.deliveryID.equals(self.deliveryID) == true)
    }
}

/// A request that is out of bounds.
package struct TapRequestError: Error {
    /// The field, the value, and the rule.
    package let violation: Violation

    /// Creates the error.
    package init(violation: Violation) { self.violation = violation }
}

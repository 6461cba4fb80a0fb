internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingRules

extension DeliveryTotals {
    /// Totals as a sender put them, and every rule that they break. Their tenant is empty: the
    /// credentials tell it.
    static func read(
        _ proto: Sightline_V1_DeliveryTotals
    ) -> (totals: DeliveryTotals, violations: [Violation]) {
        var violations: [Violation] = []
        var totals = DeliveryTotals(delivery: proto.deliveryID)
        let idBytes = proto.deliveryID.utf8.count
        if idBytes == 0 {
            violations.append(
                Violation("delivery_id", .required, "missing: send the delivery's own id"))
        }
        for (field, bytes, limit) in [
            ("delivery_id", idBytes, Limits.nameBytes),
            ("name", proto.name.utf8.count, Self.nameBytes),
        ] where bytes > limit {
            violations.append(
                Violation(field, .tooLarge, "\(bytes) bytes, the limit is \(limit): shorten it"))
        }
        totals.name = proto.name.isEmpty ? nil : proto.name
        switch proto.product {
        case .unspecified: totals.product = nil
        case .standard: totals.product = .standard
        case .classic: totals.product = .classic
        case .UNRECOGNIZED(let number):
            violations.append(
                Violation("product", .range, "\(number) is no CampaignProduct: send 0, 1 or 2"))
        }
        if proto.hasSentAt {
            totals.sentTime = Self.microseconds(proto.sentAt)
            if totals.sentTime == nil {
                violations.append(
                    Violation(
                        "sent_at", .range,
                        "no time of the years 1970 to 9999: send seconds since 1970, and nanos of "
                            + "0 to 999,999,999"))
            }
        }
        for (index, figures) in proto.platforms.enumerated() {
            totals.add(figures, at: "platforms[\(index)]", &violations)
        }
        return (totals, violations)
    }

    /// Adds the figures of one platform, once: so there are never more than there are platforms.
    private mutating func add(
        _ proto: Sightline_V1_PlatformTotals, at place: String, _ violations: inout [Violation]
    ) {
        var figures = OfPlatform()
        switch proto.platform {
        case .unspecified: break
        case .android: figures.platform = .android
        case .ios: figures.platform = .ios
        case .UNRECOGNIZED(let number):
            return Self.add(
                Violation(
                    "\(place).platform", .range, "\(number) is no Platform: send 0, 1 or 2"),
                to: &violations)
        }
        guard !self.platforms.contains(where: { $0.platform == figures.platform }) else {
            return Self.add(
                Violation(
                    "\(place).platform", .conflict, "the platform stands here twice: send it once"),
                to: &violations)
        }
        func count(_ value: UInt64, _ field: String) -> Int {
            if value > UInt64(Self.maxCount) {
                Self.add(
                    Violation(
                        "\(place).\(field)", .range, "\(value), the limit is \(Self.maxCount)"),
                    to: &violations)
            }
            return Int(clamping: value)
        }
        if proto.hasSent { figures.sent = count(proto.sent, "sent") }
        if proto.hasDelivered { figures.delivered = count(proto.delivered, "delivered") }
        if proto.hasFailed { figures.failed = count(proto.failed, "failed") }
        self.platforms.append(figures)
    }

    /// The violations that a delivery is told of: what is sent may have any number of platforms.
    private static let maxViolations = 20

    private static func add(_ violation: Violation, to violations: inout [Violation]) {
        if violations.count < Self.maxViolations { violations.append(violation) }
    }

    private static func microseconds(_ time: Google_Protobuf_Timestamp) -> Int64? {
        guard (0..<1_000_000_000).contains(time.nanos),
            (0...Self.times.upperBound / 1_000_000).contains(time.seconds)
        else { return nil }
        return time.seconds * 1_000_000 + Int64(time.nanos) / 1000
    }
}

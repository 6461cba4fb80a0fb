package import TrackingRules

/// What a sender knows of a delivery as a whole, for deliveries without facts of each recipient.
/// It holds no id of a person.
package struct DeliveryTotals: Sendable, Equatable {
    /// The figures on one platform; each is nil if it is not known.
    package struct OfPlatform: Sendable, Equatable {
        /// The platform; nil for figures that are not known by platform.
        package var platform: Platform?
        /// The messages that somebody tried to send.
        package var sent: Int?
        /// Those that a push service took.
        package var delivered: Int?
        /// Those that it did not take.
        package var failed: Int?

        /// Creates figures, of which none is known unless it is given.
        package init(
            platform: Platform? = nil, sent: Int? = nil, delivered: Int? = nil, failed: Int? = nil
        ) {
            (self.platform, self.sent) = (platform, sent)
            (self.delivered, self.failed) = (delivered, failed)
        }
    }

    /// The tenant; empty in a file, which tells of none.
    package var tenant: String
    /// The delivery's id.
    package var delivery: String
    /// Its name; nil if it has none.
    package var name: String?
    /// The product that made it; nil if that is not known.
    package var product: Product?
    /// When it was sent, in microseconds since 1970; nil if that is not known.
    package var sentTime: Int64?
    /// The figures, of each platform once.
    package var platforms: [OfPlatform] = []

    /// The most deliveries in one request.
    package static let maxInRequest = 1000
    /// The maximum bytes of a name.
    package static let nameBytes = 256
    /// The largest figure: sums of three never overflow.
    package static let maxCount = 1_000_000_000_000
    /// The times of sending, the years 1970 to 9999 in microseconds.
    package static let times: ClosedRange<Int64> = 0...253_402_300_799_999_999

    /// Creates totals without a figure.
    package init(tenant: String = "", delivery: String) {
        (self.tenant, self.delivery) = (tenant, delivery)
    }

    /// The messages that somebody tried to send, on all platforms; nil if that is not known.
    package var sent: Int? { self.sum(\.sent) }
    /// Those that a push service took, on all platforms; nil if that is not known.
    package var delivered: Int? { self.sum(\.delivered) }
    /// Those that it did not take, on all platforms; nil if that is not known.
    package var failed: Int? { self.sum(\.failed) }

    private func sum(_ figure: (OfPlatform) -> Int?) -> Int? {
        let known = self.platforms.compactMap(figure)
        return known.isEmpty ? nil : known.reduce(0, +)
    }
}

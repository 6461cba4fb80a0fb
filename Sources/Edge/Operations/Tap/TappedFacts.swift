internal import TrackingRules
internal import WireFormat

/// What a reader is shown of an event beside its verdict.
struct TappedFacts {
    var appID = ""
    var deliveryID = ""
    var platform: Platform?

    /// Reads an event; without one there are no facts.
    init(_ event: Bytes?, limits: Limits) {
        // A kept event was parsed at admission, so parsing it again cannot fail.
        guard let event = event.flatMap({ try? EventView($0) }) else { return }
        self.appID = event.shortAppID
        self.deliveryID = event.safeDeliveryID(limits)
        self.platform = event.effectivePlatform
    }
}

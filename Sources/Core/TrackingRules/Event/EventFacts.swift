internal import WireFormat

/// The fields from which an event's hit keys and its ledger subject are computed.
struct EventFacts {
    let product: Product
    let platform: Platform?
    /// deliveryId, or an in-app message's message id.
    let deliveryID: Bytes
    /// broadlogId; empty for an in-app message.
    let broadlogID: Bytes
    /// The action button's identifier.
    let actionIdentifier: Bytes
    /// Whether it is an impression that iOS cannot have reported (D16).
    let isClosedImpression: Bool

    init(_ event: EventView) {
        self.product = event.product
        self.platform = event.effectivePlatform
        self.deliveryID = event.deliveryID
        self.broadlogID = event.broadlogID
        self.actionIdentifier = event.push.actionIdentifier
        self.isClosedImpression =
            event.push.appState == 3 && event.push.kind == 1 && self.platform == .ios
    }
}

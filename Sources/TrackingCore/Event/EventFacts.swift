/// What the keys of an event's hits and its place in the ledger are made of. Read at once: each
/// look into the views copies them.
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

    @inline(__always)
    init(_ event: borrowing EventView) {
        var platform = Platform(number: event.platform)
        var (deliveryID, broadlogID, actionIdentifier) = (Bytes.none, Bytes.none, Bytes.none)
        var product = Product.firebase
        var isClosedImpression = false
        switch event.interaction {
        case .push(let push):
            switch push.payload {
            case .apns(let view):
                (deliveryID, broadlogID) = (view.deliveryID, view.messageID)
                platform = .ios
            case .fcm(let view):
                if let view { (deliveryID, broadlogID) = (view.deliveryID, view.messageID) }
                platform = .android
            case .raw(let raw):
                (deliveryID, broadlogID) = (raw.payload.deliveryID, raw.payload.messageID)
            case .none: break
            }
            product = Product(number: push.product) ?? .standard
            actionIdentifier = push.actionIdentifier
            isClosedImpression = push.appState == 3 && push.kind == 1 && platform == .ios
        case .trackAction(let action):
            (deliveryID, broadlogID) = (action.deliveryID, action.broadlogID)
            product = Product(number: action.product) ?? .standard
        case .inApp(let message): deliveryID = message.messageID
        case .none: break
        }
        self.product = product
        self.platform = platform
        self.deliveryID = deliveryID
        self.broadlogID = broadlogID
        self.actionIdentifier = actionIdentifier
        self.isClosedImpression = isClosedImpression
    }
}

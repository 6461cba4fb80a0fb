package import WireFormat

extension EventView {
    /// The Campaign product that created the event's delivery; Firebase for an in-app message.
    package var product: Product {
        switch self.interaction {
        case .push: Product(number: self.push.product) ?? .standard
        case .trackAction: Product(number: self.trackAction.product) ?? .standard
        case .pushSend: Product(number: self.pushSend.product) ?? .standard
        case .inApp, .none: .firebase
        }
    }

    /// deliveryId, or an in-app message's message id.
    package var deliveryID: Bytes {
        switch self.interaction {
        case .push: self.push.fields.deliveryID
        case .trackAction: self.trackAction.deliveryID
        case .pushSend: self.pushSend.deliveryID
        case .inApp: self.inApp.messageID
        case .none: .none
        }
    }

    /// broadlogId; empty for an in-app message.
    package var broadlogID: Bytes {
        switch self.interaction {
        case .push: self.push.fields.messageID
        case .trackAction: self.trackAction.broadlogID
        case .pushSend: self.pushSend.broadlogID
        case .inApp, .none: .none
        }
    }

    /// The tracking flag; nil if absent, as it always is of an in-app message and of a send.
    var flag: Bytes? {
        switch self.interaction {
        case .push: self.push.fields.flag
        case .trackAction: self.trackAction.flag
        case .inApp, .pushSend, .none: nil
        }
    }

    /// The action button's identifier, or the label of an in-app message's button, cut to 256 bytes
    /// as no rule limits a label.
    @inline(__always)
    var chosenAction: Bytes {
        switch self.interaction {
        case .push: self.push.actionIdentifier
        case .inApp: self.inApp.actionText.cut(to: Limits.nameBytes)
        case .trackAction, .pushSend, .none: .none
        }
    }

    /// The event's platform, or that of its payload if the event has none (D39).
    package var effectivePlatform: Platform? {
        switch self.push.payload {
        case .apns: .ios
        case .fcm: .android
        case .none, .raw: Platform(number: self.platform)
        }
    }

    /// The keys of the event's hits and of its plain notification.
    package func keys(tenant: Bytes) -> (fact: HitKey, notification: HitKey) {
        self.keys(tenant: tenant, EventFacts(self))
    }

    /// The keys of an event whose facts were already read.
    func keys(tenant: Bytes, _ facts: EventFacts) -> (fact: HitKey, notification: HitKey) {
        if self.interaction == .inApp {
            let key = HitKey.inApp(tenant: tenant, event: self)
            return (key, key)
        }
        let plain = self.pushKey(tenant, facts, actionIdentifier: .none)
        guard !facts.actionIdentifier.isEmpty else { return (plain, plain) }
        return (self.pushKey(tenant, facts, actionIdentifier: facts.actionIdentifier), plain)
    }

    private func pushKey(
        _ tenant: Bytes, _ facts: EventFacts, actionIdentifier: Bytes
    ) -> HitKey {
        HitKey.push(
            tenant: tenant, product: facts.product, appID: self.appID,
            deliveryID: facts.deliveryID, broadlogID: facts.broadlogID,
            actionIdentifier: actionIdentifier)
    }
}

internal import WireFormat

/// A refused event that a request keeps, and what is read of it later.
package struct KeptEvent: Sendable {
    /// Where it is in the request's `keptEvents`.
    package let bytes: Range<Int>
    /// By what people look for it.
    package let names: EventNames
    /// The recipient's id; empty if it has none.
    package let subjectID: String
}

/// By what people look for an event.
package struct EventNames: Sendable, Equatable {
    /// The app, cut to as many bytes as a name may have.
    package let appID: String
    /// The delivery or the in-app message. Empty if it has other characters than such ids have, as
    /// it may then be something else.
    package let deliveryID: String
    /// The platform; nil if the event has none.
    package let platform: Platform?

    /// Creates names.
    package init(appID: String, deliveryID: String, platform: Platform?) {
        self.appID = appID
        self.deliveryID = deliveryID
        self.platform = platform
    }

    /// Those of an accepted event.
    init(_ event: JournalEvent) {
        self.init(app: event.appID, delivery: event.deliveryID, platform: event.platform)
    }

    /// Those of an event whose raw payload, if it has one, was read.
    init(_ event: EventView) {
        self.init(
            app: event.appID, delivery: event.deliveryID, platform: event.effectivePlatform)
    }

    private init(app: Bytes, delivery: Bytes, platform: Platform?) {
        let isSafe =
            delivery.count <= Limits.nameBytes && ByteSet.safeInURL.containsAll(delivery)
        self.init(
            appID: app.cut(to: Limits.nameBytes).text,
            deliveryID: isSafe ? delivery.text : "", platform: platform)
    }
}

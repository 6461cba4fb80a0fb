internal import WireFormat

/// A refused event that a request keeps for the quarantine and the tap.
package struct KeptEvent: Sendable {
    /// Where it is in the request's `keptEvents`.
    package let bytes: Range<Int>
    /// The names by which people search for it.
    package let names: EventNames
    /// The recipient's id; empty if it has none.
    package let subjectID: String
}

/// The names by which people search for an event.
package struct EventNames: Sendable, Equatable {
    /// The app, cut to `Limits.nameBytes`.
    package let appID: String
    /// The delivery or the in-app message. Empty if it has characters that such ids never have: it
    /// may then be something else.
    package let deliveryID: String
    /// The platform; nil if the event has none.
    package let platform: Platform?

    /// Creates names.
    package init(appID: String, deliveryID: String, platform: Platform?) {
        self.appID = appID
        self.deliveryID = deliveryID
        self.platform = platform
    }

    /// The names of an accepted event.
    init(_ event: JournalEvent) {
        self.init(app: event.appID, delivery: event.deliveryID, platform: event.platform)
    }

    /// The names of an event whose raw payload, if it has one, was read.
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

// Events and requests as clients send them.
package import SightlineProtos
internal import SwiftProtobuf

package enum TestEvents {
    /// An event of a push notification on Android whose flag is on.
    ///
    /// - Parameter id: the notification's broadlog id, and the event's own id.
    package static func push(
        _ id: String, _ kind: Sightline_V1_PushInteractionKind = .opened, flag: String? = "on",
        platform: Sightline_V1_Platform = .android
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.eventID = id
            event.appID = "com.example.app"
            event.platform = platform
            event.consent = .optedIn
            event.push.kind = kind
            if platform == .ios {
                event.push.apns.deliveryID = "56c4"
                event.push.apns.messageID = id
                if let flag { event.push.apns.acsDeliveryTracking = flag }
            } else {
                event.push.fcm.data.deliveryID = "56c4"
                event.push.fcm.data.messageID = id
                if let flag { event.push.fcm.data.acsDeliveryTracking = flag }
            }
        }
    }

    /// The bytes of a stream's request.
    package static func request(
        _ sequence: UInt64, _ events: [Sightline_V1_TrackingEvent] = [],
        reportAccepted: Bool = false
    ) throws -> [UInt8] {
        try Sightline_V1_StreamEventsRequest.with { request in
            request.sequence = sequence
            request.events = events
            if reportAccepted { request.options.reportAccepted = true }
        }.serializedBytes()
    }
}

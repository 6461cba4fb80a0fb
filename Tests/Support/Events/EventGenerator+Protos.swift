// Events as SwiftProtobuf itself writes them.

internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf

extension EventGenerator {
    /// One event, encoded by SwiftProtobuf; the order of its maps is the same in every run.
    package mutating func protoEvent() -> [UInt8] {
        var event = Sightline_V1_TrackingEvent()
        event.eventID = self.text()
        event.appID = self.text()
        event.subjectID = self.text()
        event.platform = .init(rawValue: self.dice.below(4)) ?? .unspecified
        event.consent = .init(rawValue: self.dice.below(5)) ?? .unspecified
        if self.dice.chance(60) {
            event.occurTime.seconds = Int64(truncatingIfNeeded: self.number())
            event.occurTime.nanos = Int32(truncatingIfNeeded: self.number())
        }
        if self.dice.chance(20) { event.traceContext.traceparent = self.text() }
        if self.dice.chance(20) {
            event.appVersion = self.text()
            event.osVersion = self.text()
            event.sdkVersion = self.text()
        }
        // As a client may send it, although it is the server's.
        if self.dice.chance(20) { event.source = .init(rawValue: self.dice.below(3)) ?? .postback }
        switch self.dice.below(8) {
        case 0: break
        case 1, 2: event.push = self.push()
        case 3:
            event.push = self.push()
            event.push.fcm.data = self.fcmData()
        case 4: event.trackAction = self.trackAction()
        case 5: event.pushSend = self.pushSend()
        default: event.inApp = self.inApp()
        }
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        // Every string is valid and no field is required, so this does not fail.
        return (try? event.serializedBytes(options: options)) ?? []
    }

    private mutating func text() -> String { String(decoding: self.string(), as: UTF8.self) }

    private mutating func map() -> [String: String] {
        var map: [String: String] = [:]
        for key in 0..<self.dice.below(4) { map["key \(key)"] = self.text() }
        return map
    }

    private mutating func push() -> Sightline_V1_PushInteraction {
        var push = Sightline_V1_PushInteraction()
        push.kind = .init(rawValue: self.dice.below(5)) ?? .unspecified
        push.product = .init(rawValue: self.dice.below(4)) ?? .unspecified
        push.actionIdentifier = self.text()
        if self.dice.chance(70) {
            push.apns.deliveryID = self.text()
            push.apns.messageID = self.text()
            if self.dice.chance(50) { push.apns.acsDeliveryTracking = self.text() }
            if self.dice.chance(50) { push.apns.aps.alert.title = self.text() }
            if self.dice.chance(50) { push.apns.aps.sound = self.text() }
            push.apns.aps.mutableContent = Int32(self.dice.below(2))
            push.apns.mediaAttachmentURL = self.text()
            push.apns.customFields = self.map()
            push.apns.aps.otherFields = self.map()
        } else if self.dice.chance(50) {
            let flag = self.dice.pick(["on", "off", "ON", "\\u006fn"])
            let json = #"{"_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":"\#(flag)"}"#
            push.raw.json = Data((self.dice.chance(80) ? json : self.text()).utf8)
        }
        return push
    }

    private mutating func fcmData() -> Sightline_V1_FcmData {
        var data = Sightline_V1_FcmData()
        data.deliveryID = self.text()
        data.messageID = self.text()
        if self.dice.chance(50) { data.acsDeliveryTracking = self.text() }
        data.title = self.text()
        data.sound = self.text()
        data.badge = Int32(self.dice.below(3))
        data.mediaAttachmentURL = self.text()
        data.customFields = self.map()
        return data
    }

    private mutating func trackAction() -> Sightline_V1_TrackAction {
        var action = Sightline_V1_TrackAction()
        action.broadlogID = self.text()
        action.deliveryID = self.text()
        action.action = .init(rawValue: self.dice.below(9)) ?? .unspecified
        if self.dice.chance(50) { action.acsDeliveryTracking = self.text() }
        action.product = .init(rawValue: self.dice.below(4)) ?? .unspecified
        return action
    }

    private mutating func pushSend() -> Sightline_V1_PushSend {
        var send = Sightline_V1_PushSend()
        send.broadlogID = self.text()
        send.deliveryID = self.text()
        send.outcome = .init(rawValue: self.dice.below(5)) ?? .unspecified
        send.reason = .init(rawValue: self.dice.below(13)) ?? .unspecified
        send.providerCode = self.text()
        send.providerMessageID = self.text()
        send.attempt = Int32(truncatingIfNeeded: self.number())
        send.display = .init(rawValue: self.dice.below(5)) ?? .unspecified
        send.product = .init(rawValue: self.dice.below(4)) ?? .unspecified
        return send
    }

    private mutating func inApp() -> Sightline_V1_InAppInteraction {
        var message = Sightline_V1_InAppInteraction()
        message.messageID = self.text()
        message.campaignName = self.text()
        message.testMessage = self.dice.chance(30)
        message.appData = self.map()
        message.triggerEvent = self.text()
        message.displaySuppressed = self.dice.chance(30)
        if self.dice.chance(30) { message.dataCollectionEnabled = self.dice.chance(50) }
        message.triggerKind = .init(rawValue: self.dice.below(5)) ?? .unspecified
        message.layout = .init(rawValue: self.dice.below(6)) ?? .unspecified
        switch self.dice.below(8) {
        case 0: message.impression = .init()
        case 1: message.click.actionURL = self.text()
        case 2: message.dismissal.type = .swipe
        case 3: message.displayError.reason = .imageFetch
        case 4:
            message.displayError.fetchReason = .init(rawValue: self.dice.below(5)) ?? .unspecified
            message.displayError.detail = self.text()
        case 5: message.triggered = .init()
        case 6: message.suppressed = .init()
        default: break
        }
        return message
    }
}

// Compares what EventView read of an event with what SwiftProtobuf decoded from the same bytes.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
@testable internal import TrackingRules
@testable internal import WireFormat

/// Collects the fields on which the two readers differ.
struct EventComparison {
    private(set) var differences: [String] = []

    /// Compares every field that the rules read.
    init(_ view: EventView, _ proto: Sightline_V1_TrackingEvent) {
        self.same("event_id", view.eventID, proto.eventID)
        self.same("app_id", view.appID, proto.appID)
        self.same("subject_id", view.subjectID, proto.subjectID)
        self.same("platform", Int(view.platform), proto.platform.rawValue)
        self.same("consent", Int(view.consent), proto.consent.rawValue)
        self.same("occur_time", view.occurTime != nil, proto.hasOccurTime)
        self.same("seconds", view.occurTime?.seconds ?? 0, proto.occurTime.seconds)
        self.same("nanos", view.occurTime?.nanos ?? 0, proto.occurTime.nanos)
        self.same("traceparent", view.traceparent, proto.traceContext.traceparent)
        self.same("app_version", view.appVersion, proto.appVersion)
        self.same("os_version", view.osVersion, proto.osVersion)
        self.same("sdk_version", view.sdkVersion, proto.sdkVersion)
        self.same("source", Int(view.source), proto.source.rawValue)
        self.same("tracestate", view.tracestate, proto.traceContext.tracestate)
        if view.interaction != .push { self.same("no push", view.push.payload, .none) }
        if view.interaction != .inApp { self.same("no in_app", view.inApp.event, .none) }
        switch (view.interaction, proto.interaction) {
        case (.none, nil): self.sameMap(nil, [:], in: view)
        case (.push, .push(let expected)): self.compare(view.push, expected, in: view)
        case (.trackAction, .trackAction(let expected)):
            self.compare(view.trackAction, expected)
            self.sameMap(nil, [:], in: view)
        case (.inApp, .inApp(let expected)): self.compare(view.inApp, expected, in: view)
        case (.pushSend, .pushSend(let expected)):
            self.compare(view.pushSend, expected)
            self.sameMap(nil, [:], in: view)
        default: self.differences.append("interaction")
        }
    }

    private mutating func compare(
        _ push: PushView, _ proto: Sightline_V1_PushInteraction, in view: EventView
    ) {
        self.same("push.kind", Int(push.kind), proto.kind.rawValue)
        self.same("push.product", Int(push.product), proto.product.rawValue)
        self.same("push.action_identifier", push.actionIdentifier, proto.actionIdentifier)
        let payload = push.fields
        switch (push.payload, proto.payload) {
        case (.none, nil): self.sameMap(nil, [:], in: view)
        case (.apns, .apns(let expected)):
            self.same("_dId", payload.deliveryID, expected.deliveryID)
            self.same("_mId", payload.messageID, expected.messageID)
            self.same("has flag", payload.flag != nil, expected.hasAcsDeliveryTracking)
            self.same("flag", payload.flag ?? .none, expected.acsDeliveryTracking)
            self.same("media", payload.hasMedia, !expected.mediaAttachmentURL.isEmpty)
            self.same("mutable", payload.mutableContent, expected.aps.mutableContent)
            self.sameMap(payload.customFields, expected.customFields, in: view)
            self.sameMap(payload.otherFields, expected.aps.otherFields, in: view, .otherFields)
        case (.raw, .raw(let expected)):
            self.same("json", [UInt8](push.json), [UInt8](expected.json))
            self.sameMap(nil, [:], in: view)
            self.sameMap(nil, [:], in: view, .otherFields)
        case (.fcm(hasData: false), .fcm(let expected)):
            self.same("fcm.data", false, expected.hasData)
            self.sameMap(nil, [:], in: view)
        case (.fcm(hasData: true), .fcm(let expected)):
            self.same("fcm.data", true, expected.hasData)
            self.same("_dId", payload.deliveryID, expected.data.deliveryID)
            self.same("_mId", payload.messageID, expected.data.messageID)
            self.same("has flag", payload.flag != nil, expected.data.hasAcsDeliveryTracking)
            self.same("flag", payload.flag ?? .none, expected.data.acsDeliveryTracking)
            self.same("media", payload.hasMedia, !expected.data.mediaAttachmentURL.isEmpty)
            self.sameMap(payload.customFields, expected.data.customFields, in: view)
        default: self.differences.append("push.payload")
        }
    }

    private mutating func compare(_ action: TrackActionView, _ proto: Sightline_V1_TrackAction) {
        self.same("broadlog_id", action.broadlogID, proto.broadlogID)
        self.same("delivery_id", action.deliveryID, proto.deliveryID)
        self.same("action", Int(action.action), proto.action.rawValue)
        self.same("has flag", action.flag != nil, proto.hasAcsDeliveryTracking)
        self.same("flag", action.flag ?? .none, proto.acsDeliveryTracking)
        self.same("product", Int(action.product), proto.product.rawValue)
    }

    private mutating func compare(_ send: PushSendView, _ proto: Sightline_V1_PushSend) {
        self.same("broadlog_id", send.broadlogID, proto.broadlogID)
        self.same("delivery_id", send.deliveryID, proto.deliveryID)
        self.same("product", Int(send.product), proto.product.rawValue)
        self.same("outcome", Int(send.outcome), proto.outcome.rawValue)
        self.same("reason", Int(send.reason), proto.reason.rawValue)
        self.same("provider_code", send.providerCode, proto.providerCode)
        self.same("provider_message_id", send.providerMessageID, proto.providerMessageID)
        self.same("attempt", send.attempt, proto.attempt)
        self.same("display", Int(send.display), proto.display.rawValue)
    }

    private mutating func compare(
        _ message: InAppView, _ proto: Sightline_V1_InAppInteraction, in view: EventView
    ) {
        self.same("message_id", message.messageID, proto.messageID)
        self.same("campaign_name", message.campaignName, proto.campaignName)
        self.same("trigger_event", message.triggerEvent, proto.triggerEvent)
        self.same("test_message", message.isTestMessage, proto.testMessage)
        self.same("display_suppressed", message.isDisplaySuppressed, proto.displaySuppressed)
        self.same(
            "data_collection_enabled", message.dataCollectionEnabled,
            proto.hasDataCollectionEnabled ? proto.dataCollectionEnabled : nil)
        self.same("in_app.event", message.event, Self.event(of: proto))
        self.same("trigger_kind", Int(message.triggerKind), proto.triggerKind.rawValue)
        self.same("layout", Int(message.layout), proto.layout.rawValue)
        let (error, expected) = (message.displayError, proto.displayError)
        self.same("display_error.reason", Int(error.reason), expected.reason.rawValue)
        self.same("fetch_reason", Int(error.fetchReason), expected.fetchReason.rawValue)
        self.same("display_error.detail", error.detail, expected.detail)
        self.sameMap(message.appData, proto.appData, in: view)
    }

    private static func event(of proto: Sightline_V1_InAppInteraction) -> InAppView.Event {
        switch proto.event {
        case nil: .none
        case .impression: .impression
        case .click(let click): .click(hasURL: !click.actionURL.isEmpty)
        case .dismissal: .dismissal
        case .displayError: .displayError
        case .triggered: .triggered
        case .suppressed: .suppressed
        }
    }

    private mutating func same<Value: Equatable>(_ field: String, _ value: Value, _ other: Value) {
        if value != other { self.differences.append("\(field): \(value) is not \(other)") }
    }

    private mutating func same(_ field: String, _ bytes: Bytes, _ text: String) {
        guard !bytes.elementsEqual(text.utf8) else { return }
        self.differences.append("\(field): \(bytes.hex) is not \(Array(text.utf8).hex)")
    }

    /// The exact measure equals the decoded map's, and the one in passing is never below it (or a
    /// limit would be missed).
    private mutating func sameMap(
        _ passing: MapMeasure?, _ map: [String: String], in view: EventView,
        _ part: EventMap = .customFields
    ) {
        let exact = MapMeasure.exact(of: view.bytes, part)
        self.same("entries", exact.count, map.count)
        self.same("longest key", exact.longestKey, map.keys.map(\.utf8.count).max() ?? 0)
        self.same("longest value", exact.longestValue, map.values.map(\.utf8.count).max() ?? 0)
        let measure = passing ?? MapMeasure()
        let isBelow =
            measure.count < exact.count || measure.longestKey < exact.longestKey
            || measure.longestValue < exact.longestValue
        if isBelow { self.differences.append("map in passing: \(measure) is below \(exact)") }
    }
}

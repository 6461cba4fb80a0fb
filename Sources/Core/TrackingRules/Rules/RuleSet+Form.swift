// Form rules: required fields and size limits (D39, D41…D43, D50). Reports every violation.
internal import WireFormat

extension RuleSet {
    func formViolations(of event: EventView, _ raw: RawPayload?) -> [Violation] {
        var violations: [Violation] = []
        if event.bytes.count > self.limits.eventBytes {
            violations.tooLarge("event", event.bytes.count, limit: self.limits.eventBytes)
        }
        violations.limit("event_id", event.eventID, to: Limits.idBytes)
        violations.limit("app_id", event.appID, to: Limits.nameBytes)
        violations.limit("subject_id", event.subjectID, to: Limits.nameBytes)
        if let time = event.occurTime, time.microseconds == nil {
            violations.append(
                Violation(
                    "occur_time", .range,
                    "\(time.seconds) s and \(time.nanos) ns are outside Timestamp's range: send "
                        + "seconds from 0001 to 9999 and nanos from 0 to 999999999"))
        }
        switch event.interaction {
        case .none:
            violations.require(
                "interaction", "push, track_action or in_app says what happened: set one of them")
        case .push: self.addPushViolations(of: event, raw, to: &violations)
        case .trackAction: self.addViolations(of: event.trackAction, to: &violations)
        case .inApp: self.addViolations(of: event.inApp, in: event, to: &violations)
        }
        return violations
    }

    private func addPushViolations(
        of event: EventView, _ raw: RawPayload?, to violations: inout [Violation]
    ) {
        let fields = event.push.fields
        switch event.push.payload {
        case .none:
            violations.require(
                "push.payload", "apns, fcm or raw holds the payload: set one of them")
        case .fcm(let hasData):
            if hasData {
                violations.limit(
                    "push.fcm.data.custom_fields", fields.customFields, of: event.bytes)
            } else {
                violations.require("push.fcm.data", "the data message carries the ids: send it")
            }
            if Platform(number: event.platform) == .ios { violations.conflict("fcm", "IOS") }
        case .apns:
            violations.limit("push.apns.custom_fields", fields.customFields, of: event.bytes)
            violations.limit(
                "push.apns.aps.other_fields", fields.otherFields, of: event.bytes, .otherFields)
            if Platform(number: event.platform) == .android {
                violations.conflict("apns", "ANDROID")
            }
        case .raw: violations += raw?.violations ?? []
        }
        let kind = event.push.kind
        if kind == 0 {
            violations.require("push.kind", "RECEIVED, DISMISSED or OPENED: say what happened")
        } else if !(1...3).contains(kind) {
            violations.range("push.kind", kind, "1 (RECEIVED), 2 (DISMISSED) or 3 (OPENED)")
        }
        violations.limit(
            "push.action_identifier", event.push.actionIdentifier, to: Limits.nameBytes)
        violations.checkProduct("push.product", event.push.product)
    }

    private func addViolations(of action: TrackActionView, to violations: inout [Violation]) {
        if action.action == 0 {
            violations.require("track_action.action", "the action says what happened: set it")
        } else if !(1...5).contains(action.action), action.action != 7 {
            violations.range("track_action.action", action.action, "1 to 5, or 7")
        }
        violations.checkProduct("track_action.product", action.product)
    }

    private func addViolations(
        of message: InAppView, in event: EventView, to violations: inout [Violation]
    ) {
        if message.event == .none {
            violations.require(
                "in_app.event", "impression, click, dismissal or display_error: set one of them")
        }
        if message.messageID.isEmpty {
            violations.require("in_app.message_id", "the campaign's message id: send it")
        }
        if event.eventID.isEmpty, event.occurTime?.isZero ?? true {
            violations.require(
                "occur_time", "in-app facts are told apart by event_id or occur_time: send either")
        }
        violations.limit("in_app.message_id", message.messageID, to: Limits.nameBytes)
        violations.limit("in_app.campaign_name", message.campaignName, to: Limits.nameBytes)
        violations.limit("in_app.trigger_event", message.triggerEvent, to: Limits.nameBytes)
        violations.limit("in_app.app_data", message.appData, of: event.bytes)
    }
}

extension [Violation] {
    fileprivate mutating func require(_ field: String, _ rule: String) {
        self.append(Violation(field, .required, "missing: \(rule)"))
    }

    fileprivate mutating func range(_ field: String, _ value: Int32, _ rule: String) {
        self.append(Violation(field, .range, "\(value) is not in the enum: send \(rule)"))
    }

    fileprivate mutating func conflict(_ payload: String, _ platform: String) {
        self.append(
            Violation(
                "platform", .conflict,
                "PLATFORM_\(platform) contradicts the \(payload) payload: send the payload's own "
                    + "platform, or none"))
    }

    fileprivate mutating func checkProduct(_ field: String, _ number: Int32) {
        guard Product(number: number) == nil else { return }
        self.range(field, number, "0 or 1 (Standard) or 2 (Classic)")
    }

    fileprivate mutating func tooLarge(_ field: String, _ count: Int, limit: Int) {
        self.append(
            Violation(field, .tooLarge, "\(count) bytes, the limit is \(limit): shorten it"))
    }

    fileprivate mutating func limit(_ field: String, _ value: Bytes, to limit: Int) {
        if value.count > limit { self.tooLarge(field, value.count, limit: limit) }
    }

    fileprivate mutating func limit(
        _ field: String, _ measure: MapMeasure, of event: Bytes, _ map: EventMap = .customFields
    ) {
        guard measure.isOverLimit else { return }
        let exact = MapMeasure.exact(of: event, map)
        if exact.count > Limits.mapEntries {
            self.append(
                Violation(
                    field, .tooLarge,
                    "\(exact.count) entries, the limit is \(Limits.mapEntries): send fewer"))
        }
        if exact.longestKey > Limits.mapKeyBytes {
            self.tooLarge("\(field).key", exact.longestKey, limit: Limits.mapKeyBytes)
        }
        if exact.longestValue > Limits.mapValueBytes {
            self.tooLarge("\(field).value", exact.longestValue, limit: Limits.mapValueBytes)
        }
    }
}

extension MapMeasure {
    fileprivate var isOverLimit: Bool {
        self.count > Limits.mapEntries || self.longestKey > Limits.mapKeyBytes
            || self.longestValue > Limits.mapValueBytes
    }
}

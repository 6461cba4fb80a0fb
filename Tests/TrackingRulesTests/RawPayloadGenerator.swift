// One push twice: as a typed payload, and as the same payload in JSON.

internal import Foundation
internal import SightlineProtos
internal import TestSupport
@testable internal import TrackingRules

/// An event with a typed payload, and the same fact with a raw one.
struct PayloadPair {
    var typed = Sightline_V1_TrackingEvent()
    var raw = Sightline_V1_TrackingEvent()
    /// Where the raw payload's keys are.
    var place = PayloadPlace.topLevel
    var platform = Platform.ios
}

/// Makes pairs: the payload's form, the order of its keys, spaces, escapes, and what no rule reads
/// are drawn anew for each.
struct RawPayloadGenerator {
    private var dice: Dice

    init(seed: UInt64) { self.dice = Dice(seed: seed) }

    /// What the rules read of a payload.
    private struct Facts {
        var delivery: String?
        var message: String?
        var flag: String?
        var media: String?
        var mutable: Int32?
        /// What the notification shows. Without it the typed payload shows nothing (D63), and the
        /// raw one may have another text among what no other rule reads.
        var title: String?
    }

    /// A value written as JSON in one of many ways.
    private indirect enum Value {
        case string(String)
        case text(String)
        case object([(String, Value)])
    }

    mutating func pair() -> PayloadPair {
        let facts = self.facts()
        var pair = PayloadPair()
        pair.typed = self.event()
        pair.raw = pair.typed
        let isIOS = self.dice.chance(50)
        (pair.platform, pair.typed.platform) = isIOS ? (.ios, .ios) : (.android, .android)
        pair.raw.platform = pair.typed.platform
        pair.place = self.dice.pick(
            isIOS
                ? [.topLevel, .topLevel, .apnsPayload, .adminAPNsPayload]
                : [.topLevel, .data, .data, .messageData, .androidData, .adminAndroidData])
        if isIOS {
            pair.typed.push.apns = self.apns(facts)
        } else {
            pair.typed.push.fcm.data = self.data(facts)
        }
        let hasData = isIOS || pair.place == .topLevel || !self.dice.chance(2)
        if !hasData { pair.typed.push.fcm.clearData() }
        var members = hasData ? self.members(facts, isIOS: isIOS) : nil
        let hasID = facts.delivery != nil || facts.message != nil
        if pair.place == .topLevel, hasID, self.dice.chance(20) {
            // Ids at the top level count, whatever a custom key is called.
            let name = self.dice.pick(["data", "message", "notification"])
            members?.append((name, .object(self.others())))
        }
        let json = self.wrapped(members, pair.place)
        pair.raw.push.raw.json = Data(self.spelled(json).utf8)
        if self.dice.chance(5) { pair.raw.rawIds.deliveryID = "client" }
        return pair
    }

    // MARK: Typed

    private mutating func event() -> Sightline_V1_TrackingEvent {
        var event = Sightline_V1_TrackingEvent()
        event.eventID = "e"
        event.appID = self.dice.pick(["", "app", "com.example.app"])
        event.subjectID = self.dice.pick(["", "subject"])
        event.consent = .init(rawValue: self.dice.pick([0, 1, 1, 1, 2, 3, 4])) ?? .unspecified
        event.push.kind = .init(rawValue: self.dice.pick([0, 1, 2, 3, 3, 4])) ?? .unspecified
        event.push.product = .init(rawValue: self.dice.pick([0, 1, 2, 2, 3])) ?? .unspecified
        event.push.actionIdentifier = self.dice.pick(["", "", "button"])
        return event
    }

    private mutating func facts() -> Facts {
        let long = String(repeating: "a", count: 64)
        let ids: [String?] = [
            "56c4", "D57fd6", "a", "h138a", "h1685a5", "x.y-z_9", long, long + "b", "", nil, "a b",
            "ä", "\"", "\\", "a/b", "\u{0}", "123", "3f0c9a4e-0000-4000-8000-000000000000",
        ]
        return Facts(
            delivery: self.dice.chance(70) ? "56c4" : self.dice.pick(ids),
            message: self.dice.chance(70) ? "h138a" : self.dice.pick(ids),
            flag: self.dice.chance(60)
                ? self.dice.pick(["on", nil])
                : self.dice.pick(["on", "off", "ON", "Off", "", " on ", "true", "1", "ｏｎ"]),
            media: self.dice.pick([nil, "", "https://example.com/a.png"]),
            mutable: self.dice.pick([nil, 0, 1, 1, 2]),
            title: self.dice.pick([nil, "Sale", "é"]))
    }

    private func apns(_ facts: Facts) -> Sightline_V1_ApnsPayload {
        var payload = Sightline_V1_ApnsPayload()
        payload.deliveryID = facts.delivery ?? ""
        payload.messageID = facts.message ?? ""
        if let flag = facts.flag { payload.acsDeliveryTracking = flag }
        payload.mediaAttachmentURL = facts.media ?? ""
        payload.aps.mutableContent = facts.mutable ?? 0
        if let title = facts.title { payload.aps.alert.title = title }
        return payload
    }

    private func data(_ facts: Facts) -> Sightline_V1_FcmData {
        var data = Sightline_V1_FcmData()
        data.deliveryID = facts.delivery ?? ""
        data.messageID = facts.message ?? ""
        if let flag = facts.flag { data.acsDeliveryTracking = flag }
        data.mediaAttachmentURL = facts.media ?? ""
        data.title = facts.title ?? ""
        return data
    }

    // MARK: Raw

    private mutating func members(_ facts: Facts, isIOS: Bool) -> [(String, Value)] {
        var members: [(String, Value)] = []
        let texts = [
            ("_dId", facts.delivery), ("_mId", facts.message),
            ("_acsDeliveryTracking", facts.flag), ("media-attachment-url", facts.media),
            ("title", isIOS ? nil : facts.title),
        ]
        for (name, text) in texts {
            guard let text else { continue }
            members.append((name, .string(text)))
            // The same value again is no contradiction.
            if self.dice.chance(3) { members.append((name, .string(text))) }
        }
        if isIOS, facts.mutable != nil || facts.title != nil || self.dice.chance(80) {
            var aps = self.others(besides: facts.title == nil ? nil : "alert")
            if let title = facts.title {
                aps.append(("alert", .object([("title", .string(title))])))
            }
            if let mutable = facts.mutable {
                aps.append(
                    ("mutable-content", .text(self.dice.chance(90) ? "\(mutable)" : "\(mutable).0"))
                )
            }
            members.append(("aps", .object(self.shuffled(aps))))
        }
        members += self.others(besides: facts.title == nil ? nil : "title")
        return self.shuffled(members)
    }

    /// Members that no rule reads, but for texts to show.
    ///
    /// - Parameter name: the text that is there already.
    private mutating func others(besides name: String?) -> [(String, Value)] {
        self.others().filter { $0.0 != name }
    }

    private mutating func others(depth: Int = 0) -> [(String, Value)] {
        (0..<self.dice.below(depth == 0 ? 6 : 3)).map { _ in
            let name = self.dice.pick([
                "title", "body", "custom key 1", "", "é", "_mid", "_dID", "thread-id", "sound",
                "relevance-score", "alert", "\u{1}", "\"", "_d", "_acsdeliverytracking", "badge",
            ])
            return (name, self.value(depth: depth))
        }
    }

    private mutating func value(depth: Int) -> Value {
        switch self.dice.below(depth < 4 ? 6 : 3) {
        case 0: .text(self.dice.pick(["null", "true", "false", "[]", "{}", "[1, 2.5e-3,-0]"]))
        case 1: .text(self.dice.pick(["0", "-1", "1e400", "9223372036854775808", "0.1"]))
        case 2: .string(self.dice.pick(["", "off", "56c5", "a \u{1F600} b", "\n\"\\/", "é"]))
        case 3, 4: .object(self.others(depth: depth + 1))
        default:
            .object([
                ("_dId", .string(self.dice.pick(["x", "y"]))), ("_dId", .text("5")),
                ("subtitle", self.value(depth: depth + 1)),
            ])
        }
    }

    /// The payload of a form; nil where its data is absent.
    private mutating func wrapped(_ members: [(String, Value)]?, _ place: PayloadPlace) -> Value {
        let inner = members.map { Value.object($0) }
        func member(_ name: String) -> [(String, Value)] { inner.map { [(name, $0)] } ?? [] }
        switch place {
        case .topLevel: return inner ?? .object([])
        case .data:
            return .object(
                self.shuffled(
                    member("data") + [("collapseKey", .string("1")), ("priority", .string("high"))])
            )
        case .messageData:
            return .object([
                ("message", .object(self.shuffled(member("data") + [("token", .string("t"))])))
            ])
        case .androidData:
            let android = Value.object(member("data") + [("ttl", .string("5s"))])
            return .object([("message", .object(self.shuffled([("android", android)])))])
        case .adminAndroidData:
            let android = Value.object(member("data") + [("ttl", .string("5s"))])
            return .object(self.shuffled([("android", android), ("token", .string("t"))]))
        case .apnsPayload:
            return .object([("message", .object(self.universal(members ?? [])))])
        case .adminAPNsPayload:
            return .object(self.universal(members ?? []) + [("topic", .string("t"))])
        }
    }

    /// A message for all platforms: what is Apple's is in the payload for APNs, which overlays the
    /// data that each platform gets.
    private mutating func universal(_ members: [(String, Value)]) -> [(String, Value)] {
        var (payload, data) = ([(String, Value)](), [(String, Value)]())
        let isSplit = self.dice.chance(50)
        for member in members {
            if isSplit, member.0 != "aps", self.dice.chance(60) {
                data.append(member)
            } else {
                payload.append(member)
            }
        }
        let apns = Value.object([("payload", .object(payload)), ("headers", .object([]))])
        return self.shuffled(
            [("apns", apns)] + (data.isEmpty ? [] : [("data", Value.object(data))]))
    }

    private mutating func shuffled(_ members: [(String, Value)]) -> [(String, Value)] {
        members.shuffled(using: &self.dice)
    }

    // MARK: JSON

    private mutating func spelled(_ value: Value) -> String {
        switch value {
        case .text(let text): return text
        case .string(let text): return self.quoted(text)
        case .object(let members):
            var parts: [String] = []
            for (name, value) in members {
                parts.append(
                    self.space() + self.quoted(name) + self.space() + ":" + self.space()
                        + self.spelled(value) + self.space())
            }
            return "{" + parts.joined(separator: ",") + self.space() + "}"
        }
    }

    private mutating func space() -> String {
        self.dice.chance(80) ? "" : self.dice.pick([" ", "\n", "\t \r\n"])
    }

    private mutating func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if mustEscape || self.dice.chance(4) {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: self.dice.chance(50))
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

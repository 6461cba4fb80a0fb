// Where a payload has its ids and flag: it depends on how much of the message was unwrapped before.
internal import JSON

/// The object of a payload in which the rules look for ids, flag and media.
package enum PayloadPlace: Sendable, CaseIterable {
    /// The top level: iOS's userInfo, or the map of strings that code on Android gets.
    case topLevel
    /// An FCM message's `data`; in one of firebase-admin, that for all platforms.
    case data
    /// The `data` for all platforms in an FCM v1 message.
    case messageData
    /// The `data` for Android alone in an FCM v1 message, which replaces the general one.
    case androidData
    /// The payload for APNs in an FCM v1 message, which overlays the general data.
    case apnsPayload
    /// The same as `androidData` in firebase-admin's message, which has no wrapper.
    case adminAndroidData
    /// The same as `apnsPayload` in firebase-admin's message.
    case adminAPNsPayload

    /// The keys that lead to the object.
    package var path: [String] {
        switch self {
        case .topLevel: []
        case .data: ["data"]
        case .messageData: ["message", "data"]
        case .androidData: ["message", "android", "data"]
        case .apnsPayload: ["message", "apns", "payload"]
        case .adminAndroidData: ["android", "data"]
        case .adminAPNsPayload: ["apns", "payload"]
        }
    }

    /// The prefix of the paths of the object's keys.
    package var prefix: String { self.path.map { $0 + "." }.joined() }

    /// Where its keys are read, in words.
    package var name: String {
        guard self != .topLevel else { return "at the top level" }
        let overlaid = self.overlaid.map { " or `\($0.path.joined(separator: "."))`" } ?? ""
        return "inside `\(self.path.joined(separator: "."))`" + overlaid
    }

    /// The data for all platforms of the same message, beside data of one platform.
    var general: PayloadPlace? {
        switch self {
        case .androidData, .apnsPayload: .messageData
        case .adminAndroidData, .adminAPNsPayload: .data
        case .topLevel, .data, .messageData: nil
        }
    }

    /// The place whose keys count where this one has none: APNs' payload overlays the data for all
    /// platforms, and Android's data replaces it.
    package var overlaid: PayloadPlace? {
        switch self {
        case .apnsPayload, .adminAPNsPayload: self.general
        case .topLevel, .data, .messageData, .androidData, .adminAndroidData: nil
        }
    }

    /// The places that one message may have, this one among them, for apps on any platform.
    var ofSameMessage: [PayloadPlace] {
        switch self {
        case .topLevel: [.topLevel]
        case .data, .adminAndroidData, .adminAPNsPayload:
            [.data, .adminAndroidData, .adminAPNsPayload]
        case .messageData, .androidData, .apnsPayload: [.messageData, .androidData, .apnsPayload]
        }
    }

    /// The members of the object; nil if the payload has no such object.
    func members(in root: JSONObject) -> JSONObject? {
        var members: JSONObject? = root
        for key in self.path { members = members?[key]?.objectValue }
        return members
    }

    /// The members of the object, and those that it overlays; nil if the payload has no such
    /// object.
    func scope(in root: JSONObject) -> JSONObject? {
        let members = self.members(in: root)
        guard let members, let below = self.overlaid?.members(in: root) else { return members }
        return members.overlaying(below)
    }

    private func exists(in root: JSONObject) -> Bool { self.members(in: root) != nil }
}

// MARK: The place in a payload

extension PayloadPlace {
    /// The place in a payload of this platform. Ids at the top level count, whatever its other keys
    /// are called: a custom key may have the name of a wrapper.
    init(in root: JSONObject, platform: Platform) {
        let form = Self.form(of: root, platform)
        let isForeign = platform == .android && root["aps"]?.objectValue != nil
        let hasMore = Self.idCounts(in: root) > Self.idCounts(in: form.scope(in: root) ?? [:])
        self = hasMore && !isForeign ? .topLevel : form
    }

    /// The place that the names of a payload's objects tell.
    private static func form(of root: JSONObject, _ platform: Platform) -> PayloadPlace {
        switch platform {
        case .ios:
            guard root["aps"] == nil else { return .topLevel }
            let general: [PayloadPlace] = Self.isAdminMessage(root) ? [.data] : []
            let places: [PayloadPlace] = [.apnsPayload, .messageData, .adminAPNsPayload] + general
            return places.first { $0.exists(in: root) } ?? .topLevel
        case .android:
            if Self.adminAndroidData.exists(in: root) { return .adminAndroidData }
            if Self.data.exists(in: root) { return .data }
            if root["message"]?.objectValue != nil {
                return Self.androidData.exists(in: root) ? .androidData : .messageData
            }
            return Self.isMap(root) ? .topLevel : .data
        }
    }

    /// Whether an object with `data` is a message as firebase-admin takes it: it names a receiver,
    /// or has settings of one platform.
    private static func isAdminMessage(_ root: JSONObject) -> Bool {
        ["token", "tokens", "topic", "condition"].contains { root[$0] != nil }
            || ["apns", "android"].contains { root[$0]?.objectValue != nil }
    }

    /// Whether an object without `data` is the map that code on Android gets, rather than a message
    /// that lacks its data. Such a map holds only strings, under any names.
    private static func isMap(_ root: JSONObject) -> Bool {
        let wrappers = ["aps", "notification", "android", "apns"]
        guard wrappers.allSatisfy({ root[$0]?.objectValue == nil }) else { return false }
        let tracking = PayloadID.allCases.map(\.rawValue) + [PayloadSubject.flagKey]
        return tracking.contains { root[$0] != nil }
            || !["collapseKey", "priority", "to"].contains { root[$0] != nil }
    }

    /// How many ids an object has that a client could send, and how many of any value.
    private static func idCounts(in members: JSONObject) -> (Int, Int) {
        let ids = PayloadID.allCases.compactMap { members[$0.rawValue] }
        return (ids.count { $0.stringValue?.isEmpty == false }, ids.count)
    }
}

extension PayloadPlace {
    /// The path of a key in violations.
    func violationPath(_ key: String) -> String {
        ([RawPayload.field] + self.path + [key]).joined(separator: ".")
    }
}

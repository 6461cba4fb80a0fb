// Where a payload has its ids and flag: it depends on how much of the message was unwrapped before.
internal import JSON

/// The object of a payload in which the rules look for ids, flag and media.
package enum PayloadPlace: Sendable, CaseIterable {
    /// The top level: iOS's userInfo, or the map of strings that code on Android gets.
    case topLevel
    /// An FCM message's `data`.
    case data
    /// The `data` of an FCM v1 message.
    case messageData
    /// The `data` for Android alone in an FCM v1 message, which replaces the general one.
    case androidData
    /// The payload for APNs in an FCM v1 message.
    case apnsPayload

    /// The keys that lead to the object.
    package var path: [String] {
        switch self {
        case .topLevel: []
        case .data: ["data"]
        case .messageData: ["message", "data"]
        case .androidData: ["message", "android", "data"]
        case .apnsPayload: ["message", "apns", "payload"]
        }
    }

    /// The place in words.
    package var name: String {
        self == .topLevel ? "at the top level" : "inside `\(self.path.joined(separator: "."))`"
    }

    /// The place in a payload of this platform.
    init(in root: [String: JSONValue], platform: Platform) {
        let message = root["message"]?.objectValue
        switch platform {
        case .ios:
            let isV1 = root["aps"] == nil && Self.apnsPayload.exists(in: root)
            self = isV1 ? .apnsPayload : .topLevel
        case .android:
            if root["data"]?.objectValue != nil {
                self = .data
            } else if message != nil {
                self = Self.androidData.exists(in: root) ? .androidData : .messageData
            } else {
                self = Self.isMap(root) ? .topLevel : .data
            }
        }
    }

    /// Whether an object without `data` is the map that code on Android gets, rather than a message
    /// that lacks its data. Such a map holds only strings, under any names.
    private static func isMap(_ root: [String: JSONValue]) -> Bool {
        guard root["aps"]?.objectValue == nil, root["notification"]?.objectValue == nil else {
            return false
        }
        let tracking = PayloadID.allCases.map(\.rawValue) + [PayloadSubject.flagKey]
        return tracking.contains { root[$0] != nil }
            || !["collapseKey", "priority", "to"].contains { root[$0] != nil }
    }

    /// The members of the object; nil if the payload has no such object.
    func members(in root: [String: JSONValue]) -> [String: JSONValue]? {
        var members: [String: JSONValue]? = root
        for key in self.path { members = members?[key]?.objectValue }
        return members
    }

    private func exists(in root: [String: JSONValue]) -> Bool { self.members(in: root) != nil }
}

extension PayloadPlace {
    /// The paths of the ids in violations.
    var idPaths: RuleSet.IDPaths {
        switch self {
        case .topLevel: Self.topLevelPaths
        case .data: Self.dataPaths
        case .messageData: Self.messageDataPaths
        case .androidData: Self.androidDataPaths
        case .apnsPayload: Self.apnsPayloadPaths
        }
    }

    private static let topLevelPaths = Self.topLevel.newIDPaths
    private static let dataPaths = Self.data.newIDPaths
    private static let messageDataPaths = Self.messageData.newIDPaths
    private static let androidDataPaths = Self.androidData.newIDPaths
    private static let apnsPayloadPaths = Self.apnsPayload.newIDPaths

    private var newIDPaths: RuleSet.IDPaths {
        RuleSet.IDPaths(
            delivery: self.violationPath(PayloadID.delivery.rawValue),
            broadlog: self.violationPath(PayloadID.message.rawValue),
            absence: "missing, or no string")
    }

    /// The path of a key in violations.
    func violationPath(_ key: String) -> String {
        ([RawPayload.field] + self.path + [key]).joined(separator: ".")
    }
}

// A payload for the rules and the inspector: the object with the app's keys, and all other objects.
package import JSON
internal import WireFormat

/// A payload that is judged or inspected.
package struct PayloadSubject {
    /// The key of the tracking flag, letter for letter.
    package static let flagKey = "_acsDeliveryTracking"
    /// The key of a Classic notification's text on Android.
    static let classicText: StaticString = "_msg"
    /// The keys of an alert with a text, or with the key of one that the app has.
    static let alertTexts = ["title", "subtitle", "body", "title-loc-key", "loc-key"]

    /// The whole object.
    package let root: JSONObject
    /// The platform whose payload it is.
    package let platform: Platform
    /// Where the vendor's client looks for its keys.
    package let place: PayloadPlace
    /// The object there, with the keys of the one that it overlays; empty if it is absent.
    package let scope: JSONObject
    /// Whether the object exists.
    package let hasScope: Bool
    private let contradictions: [String]

    /// Finds the place in a document where the vendor's client looks for its keys.
    ///
    /// - Parameter root: the document's object.
    package init(_ document: PayloadDocument, root: JSONObject, platform: Platform) {
        self.root = root
        self.platform = platform
        self.place = PayloadPlace(in: root, platform: platform)
        let scope = self.place.scope(in: root)
        self.scope = scope ?? [:]
        self.hasScope = scope != nil
        self.contradictions = document.contradictions
    }

    /// The members of the whole object, in the order of their keys.
    package var rootMembers: [(key: String, value: JSONValue)] { self.root.inKeyOrder }

    /// The members of the scope, in the order of their keys.
    package var scopeMembers: [(key: String, value: JSONValue)] { self.scope.inKeyOrder }

    /// The objects of which the scope is made, the one that counts first, each with the prefix of
    /// its keys' paths.
    package var layers: [(prefix: String, members: JSONObject)] {
        [self.place, self.place.overlaid].compactMap { place in
            guard let place, let members = place.members(in: self.root) else { return nil }
            return (place.prefix, members)
        }
    }

    /// The `aps` object; empty if it is absent. The data for all platforms has none.
    package var aps: JSONObject {
        guard self.place != .data, self.place != .messageData else { return [:] }
        return self.place.members(in: self.root)?["aps"]?.objectValue ?? [:]
    }

    /// Whether neither id is in the scope.
    package var hasNoID: Bool { !Self.hasID(self.scope) }

    /// The path of a key in the scope.
    package func path(_ key: String) -> String {
        self.layer(of: key).prefix + JSONValue.keyName(key)
    }

    /// The place of a key in the scope.
    func layer(of key: String) -> PayloadPlace {
        guard let overlaid = self.place.overlaid, self.place.members(in: self.root)?[key] == nil,
            overlaid.members(in: self.root)?[key] != nil
        else { return self.place }
        return overlaid
    }

    /// The prefix of the paths of the scope's keys.
    package var prefix: String { self.place.prefix }

    /// Whether an object is at this path.
    package func has(_ path: [String]) -> Bool {
        var value: JSONValue? = .object(self.root)
        for key in path { value = value?.objectValue?[key] }
        return value != nil
    }

    private static func hasID(_ members: JSONObject) -> Bool {
        PayloadID.allCases.contains { members[$0.rawValue] != nil }
    }

    /// Where a message may have a notification that Android shows by itself.
    package static let notificationPaths = [
        ["notification"], ["android", "notification"], ["message", "notification"],
        ["message", "android", "notification"],
    ]

    /// The paths of the parts that are pushed to the platform; a push service limits each by
    /// itself.
    package var pushedParts: [[String]] {
        guard self.place != .topLevel else { return [[]] }
        let others =
            self.platform == .android
            ? Self.notificationPaths : [self.place.overlaid?.path].compactMap(\.self)
        return ([self.place.path] + others).filter(self.has)
    }

    // MARK: What is shown

    /// Whether the payload has a text to show (D63): an alert on iOS, a title or body on Android,
    /// or a notification that the push service shows on either.
    var isShown: Bool {
        if Self.notificationPaths.contains(where: self.has) { return true }
        switch self.platform {
        case .android:
            return ["title", "body", "\(Self.classicText)"].contains {
                Self.hasText(self.scope[$0])
            }
        case .ios:
            let alert = self.aps["alert"]
            guard let texts = alert?.objectValue else { return Self.hasText(alert) }
            return Self.alertTexts.contains { Self.hasText(texts[$0]) }
        }
    }

    /// The sound; empty if it is absent, or a dictionary.
    var sound: String {
        let sound = self.platform == .ios ? self.aps["sound"] : self.scope["sound"]
        return sound?.stringValue ?? ""
    }

    private static func hasText(_ value: JSONValue?) -> Bool {
        value?.stringValue?.isEmpty == false
    }

    // MARK: The flag

    /// The flag that counts; nil if it is absent. It is the one in the scope, but an `off` in the
    /// data for all platforms is obeyed even if data of one platform overlays or replaces it: the
    /// operator switched the delivery's tracking off.
    package var flagValue: JSONValue? { self.generalOff ?? self.scope[Self.flagKey] }

    /// The path of the flag that counts.
    package var flagPath: String {
        guard self.generalOff != nil, let general = self.place.general else {
            return self.path(Self.flagKey)
        }
        return general.prefix + Self.flagKey
    }

    /// The flag as the vendor's client reads it; nil if it is absent. A value that is not a string
    /// counts as absent on iOS; on Android it is neither on nor off (D5).
    package var flag: String? {
        guard let value = self.flagValue else { return nil }
        return value.stringValue ?? (self.platform == .android ? value.text : nil)
    }

    /// The flag in the data for all platforms, beside data of one platform; nil unless it is `off`.
    private var generalOff: JSONValue? {
        let value = self.place.general?.members(in: self.root)?[Self.flagKey]
        let flag = value?.stringValue?.withBytes { TrackingFlag($0, platform: self.platform) }
        return flag == .off ? value : nil
    }

    // MARK: Contradictions

    /// Paths of keys with two different values, of which no client knows the right one: a key that
    /// is read and occurs twice, or an id in two of the places that a payload may have.
    package var conflicts: [String] {
        var paths: [String] = []
        for path in self.contradictions where !paths.contains(path) { paths.append(path) }
        for id in PayloadID.allCases {
            let values = Set(
                PayloadPlace.allCases.compactMap { place in
                    place.members(in: self.root)?[id.rawValue]?.stringValue
                }.map { ExactText($0) }
            ).subtracting([""])
            if values.count > 1, !paths.contains(id.rawValue) { paths.append(id.rawValue) }
        }
        return paths
    }

    /// Why the payload belongs to the other platform (D39); nil if it may belong to this one.
    var platformConflict: String? {
        guard self.hasNoID || !self.hasScope else { return nil }
        switch self.platform {
        case .android:
            guard self.root["aps"]?.objectValue != nil, !self.hasScope || Self.hasID(self.root)
            else { return nil }
            return "PLATFORM_ANDROID contradicts the raw payload, which has `aps`: send the "
                + "payload's own platform"
        case .ios:
            let places: [PayloadPlace] = [.data, .androidData, .adminAndroidData]
            let place = places.first { Self.hasID($0.members(in: self.root) ?? [:]) }
            guard let place, self.root["aps"] == nil else { return nil }
            let fix =
                place == .data
                ? "if the app's library for iOS made it of userInfo, send what is in `data` alone; "
                    + "if an app on Android got it, send PLATFORM_ANDROID"
                : "no app on iOS gets that; send PLATFORM_ANDROID, or the payload for iOS"
            return "PLATFORM_IOS contradicts the raw payload, which has its ids \(place.name): "
                + fix
        }
    }

    // MARK: All other objects

    /// An object outside the scope.
    package struct OtherObject {
        /// The keys that lead to it, as they are shown.
        package let path: [String]
        /// Its members.
        package let members: JSONObject
        /// Whether it is, or is below, a string that holds JSON.
        package let isInText: Bool
    }

    /// Every object below the root that people put keys into, except the scope: also what a string
    /// holds as JSON, which a library or a gateway may have made of an object. Arrays are not
    /// searched; `maximumSearchDepth` bounds the depth.
    package var otherObjects: [OtherObject] {
        var found: [OtherObject] = []
        self.search(OtherObject(path: [], members: self.root, isInText: false), into: &found)
        let scope: [[String]?] = [self.place.path, self.place.overlaid?.path]
        return found.filter { $0.isInText || !scope.contains($0.path) }
    }

    /// Whether apps on another platform find their keys in this object of the same message.
    package func isOfOtherPlatform(_ object: OtherObject) -> Bool {
        !object.isInText && self.place.ofSameMessage.contains { $0.path == object.path }
    }

    /// Deep enough for every wrapper that push services know ("message.apns.payload.aps.alert").
    private static let maximumSearchDepth = 6
    /// The shortest text that holds one of the keys: `{"_dId":1}`.
    private static let minimumTextByteCount = 10

    private func search(_ object: OtherObject, into found: inout [OtherObject]) {
        found.append(object)
        guard object.path.count < Self.maximumSearchDepth else { return }
        for (key, value) in object.members.inKeyOrder {
            guard let inner = Self.object(in: value) else { continue }
            self.search(
                OtherObject(
                    path: object.path + [JSONValue.keyName(key)], members: inner.members,
                    isInText: object.isInText || inner.isInText), into: &found)
        }
    }

    /// The object that a value is or, as a string, holds.
    private static func object(in value: JSONValue) -> (members: JSONObject, isInText: Bool)? {
        if let members = value.objectValue { return (members, false) }
        guard let text = value.stringValue?.utf8, text.count >= Self.minimumTextByteCount,
            text.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"),
            // A string that is no JSON is a text like any other.
            let members = (try? JSONValue(payload: Array(text)))?.objectValue
        else { return nil }
        return (members, true)
    }
}

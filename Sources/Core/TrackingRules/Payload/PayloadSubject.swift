// A payload for the rules and the inspector: the object with the app's keys, and all other objects.
package import JSON

/// A payload that is judged or inspected.
package struct PayloadSubject {
    /// The key of the tracking flag, letter for letter.
    package static let flagKey = "_acsDeliveryTracking"

    /// The whole object.
    package let root: [String: JSONValue]
    /// The platform whose payload it is.
    package let platform: Platform
    /// Where the vendor's client looks for its keys.
    package let place: PayloadPlace
    /// The object there; empty if it is absent.
    package let scope: [String: JSONValue]
    /// Whether the object exists.
    package let hasScope: Bool
    private let contradictions: [String]

    /// Finds the place in a document where the vendor's client looks for its keys.
    ///
    /// - Parameter root: the document's object.
    package init(_ document: PayloadDocument, root: [String: JSONValue], platform: Platform) {
        self.root = root
        self.platform = platform
        self.place = PayloadPlace(in: root, platform: platform)
        let scope = self.place.members(in: root)
        self.scope = scope ?? [:]
        self.hasScope = scope != nil
        self.contradictions = document.contradictions
    }

    /// The members of the whole object, in the order of their keys.
    package var rootMembers: [(key: String, value: JSONValue)] { self.root.inKeyOrder }

    /// The members of the scope, in the order of their keys.
    package var scopeMembers: [(key: String, value: JSONValue)] { self.scope.inKeyOrder }

    /// The `aps` object; empty if it is absent.
    package var aps: [String: JSONValue] { self.scope["aps"]?.objectValue ?? [:] }

    /// The flag as the vendor's client reads it; nil if it is absent. A value that is not a string
    /// counts as absent on iOS; on Android it is neither on nor off (D5).
    package var flag: String? {
        guard let value = self.scope[PayloadSubject.flagKey] else { return nil }
        return value.stringValue ?? (self.platform == .android ? value.text : nil)
    }

    /// Whether neither id is in the scope.
    package var hasNoID: Bool { PayloadID.allCases.allSatisfy { self.scope[$0.rawValue] == nil } }

    /// The path of a key in the scope.
    package func path(_ key: String) -> String { self.prefix + JSONValue.keyName(key) }

    /// The prefix of the paths of the scope's keys.
    package var prefix: String { self.place.path.map { $0 + "." }.joined() }

    /// Whether an object is at this path.
    package func has(_ path: [String]) -> Bool {
        var value: JSONValue? = .object(self.root)
        for key in path { value = value?.objectValue?[key] }
        return value != nil
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
                }
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
            guard self.root["aps"]?.objectValue != nil, !self.hasScope else { return nil }
            return "PLATFORM_ANDROID contradicts the raw payload, which has `aps`: send the "
                + "payload's own platform"
        case .ios:
            let isOther = [.data, .messageData, .androidData].contains { (place: PayloadPlace) in
                let members = place.members(in: self.root) ?? [:]
                return PayloadID.allCases.contains { members[$0.rawValue] != nil }
            }
            guard isOther, self.root["aps"] == nil else { return nil }
            return "PLATFORM_IOS contradicts the raw payload, which has its ids in `data`: send "
                + "the payload's own platform"
        }
    }

    // MARK: All other objects

    /// Every object below the root that people put keys into, with its path, except the scope.
    /// Arrays are not searched; `maximumSearchDepth` bounds the depth.
    package var otherObjects: [(path: [String], members: [String: JSONValue])] {
        var found: [(path: [String], members: [String: JSONValue])] = []
        self.search(self.root, path: [], into: &found)
        return found.filter { $0.path != self.place.path }
    }

    /// Deep enough for every wrapper that push services know ("message.apns.payload.aps.alert").
    private static let maximumSearchDepth = 6

    private func search(
        _ members: [String: JSONValue], path: [String],
        into found: inout [(path: [String], members: [String: JSONValue])]
    ) {
        found.append((path, members))
        guard path.count < Self.maximumSearchDepth else { return }
        for (key, inner) in members.compactMapValues(\.objectValue).inKeyOrder {
            self.search(inner, path: path + [JSONValue.keyName(key)], into: &found)
        }
    }
}

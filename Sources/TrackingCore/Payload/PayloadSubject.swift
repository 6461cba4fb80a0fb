// The payload as the inspector's checks see it: where the app's keys are, and where they are not.

/// A payload under inspection.
struct PayloadSubject {
    /// The whole object.
    let root: [String: JSONValue]
    /// Whose payload it is.
    let platform: Platform
    /// The object in which the vendor's client looks for its keys.
    let scope: [String: JSONValue]
    /// The members of the whole object, in the order of their keys.
    let rootMembers: [(key: String, value: JSONValue)]
    /// Those of the scope.
    let scopeMembers: [(key: String, value: JSONValue)]

    init(root: [String: JSONValue], platform: Platform) {
        self.root = root
        self.platform = platform
        self.rootMembers = root.inKeyOrder
        switch platform {
        case .android:
            self.scope = root["data"]?.objectValue ?? [:]
            self.scopeMembers = self.scope.inKeyOrder
        case .ios:
            self.scope = root
            self.scopeMembers = self.rootMembers
        }
    }

    /// The `aps` object, empty where there is none.
    var aps: [String: JSONValue] {
        self.root["aps"]?.objectValue ?? [:]
    }

    /// Where the client looks, in words.
    var scopeName: String {
        switch self.platform {
        case .android: "inside `data`"
        case .ios: "at the top level"
        }
    }

    /// The path of a key in the scope.
    func path(_ key: String) -> String {
        switch self.platform {
        case .android: "data." + JSONValue.keyName(key)
        case .ios: JSONValue.keyName(key)
        }
    }

    /// Every object below the root that people put keys into, with its path, the scope left out.
    /// Arrays are not searched; depth is bounded by `maximumSearchDepth`.
    var otherObjects: [(path: [String], members: [String: JSONValue])] {
        var found: [(path: [String], members: [String: JSONValue])] = []
        self.search(self.root, path: [], into: &found)
        let scopePath: [String] = self.platform == .android ? ["data"] : []
        return found.filter { $0.path != scopePath }
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

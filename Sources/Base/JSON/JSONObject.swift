internal import WireFormat

/// The members of a JSON object, each name once. Names are compared by their bytes, as clients
/// compare them (D32): of two names that look alike, each keeps its own value.
package struct JSONObject: Sendable, Equatable {
    private var members: [ExactText: JSONValue]

    /// Creates an object without members.
    package init() { self.members = [:] }

    /// The value of a member; nil if the object has none of this name.
    package subscript(name: String) -> JSONValue? {
        get { self.members[ExactText(name)] }
        set { self.members[ExactText(name)] = newValue }
    }

    /// These members, and those of another object whose names this one does not have.
    package func overlaying(_ below: JSONObject) -> JSONObject {
        var both = self
        both.members.merge(below.members) { own, _ in own }
        return both
    }

    /// The members in the order of their names' bytes, which is the same in every run.
    package var inKeyOrder: [(key: String, value: JSONValue)] {
        self.members.sorted { $0.key < $1.key }
            .map { (key: $0.key.text, value: $0.value) }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object of members; of a name that occurs twice the last value counts.
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init()
        for (name, value) in members { self[name] = value }
    }
}

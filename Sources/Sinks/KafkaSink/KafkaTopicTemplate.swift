internal import TrackingRules

/// The name of a topic, with places for a hit's tenant and kind, as in `hits.{tenant}`.
package struct KafkaTopicTemplate: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case text(String)
        case tenant
        case kind
    }

    private let parts: [Part]

    /// Kafka's limit for a name, in characters.
    private static let maxBytes = 249
    /// A tenant has at most 64 characters, all of which a topic may have.
    private static let longestTenant = String(repeating: "t", count: 64)

    /// The rule for templates, for error messages.
    package static let rule =
        "has to be letters, digits, ., _ and -, with {tenant} and {kind} where they are wanted, "
        + "neither . nor .., and at most \(Self.maxBytes) characters with the longest of each"

    /// Reads a template; nil if it breaks `rule`.
    package init?(_ text: String) {
        var parts: [Part] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
            switch rest[open...close] {
            case "{tenant}": parts.append(.tenant)
            case "{kind}": parts.append(.kind)
            default: return nil
            }
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { parts.append(.text(String(rest))) }
        self.parts = parts
        let kinds = HitKind.allCases.map { "\($0.name)" }
        let longest = kinds.map { self.name(tenant: Self.longestTenant, kind: $0) }
        guard text != ".", text != "..", longest.allSatisfy(Self.isName) else { return nil }
    }

    /// Whether every hit goes to one topic.
    package var isFixed: Bool {
        self.parts.allSatisfy { part in
            switch part {
            case .text: true
            case .tenant, .kind: false
            }
        }
    }

    /// The topic of a tenant's hits of a kind.
    package func name(tenant: String, kind: String) -> String {
        self.parts.map { part in
            switch part {
            case .text(let text): text
            case .tenant: tenant
            case .kind: kind
            }
        }.joined()
    }

    private static func isName(_ text: String) -> Bool {
        (1...Self.maxBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte & 0xdf) || byte == 45
                    || byte == 46 || byte == 95
            }
    }
}

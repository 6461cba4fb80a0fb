// What a reader of JSON accepts, and the faults that it reports.
internal import WireFormat

/// The bounds of one kind of document.
package struct JSONRules: Sendable {
    /// The maximum depth of nested objects and arrays.
    package private(set) var maxDepth: Int
    /// The maximum characters of a number.
    let maxNumberBytes: Int
    /// Whether a name may occur twice in an object; the first one then counts.
    let takesRepeatedNames: Bool
    /// Whether an escape may be half of a surrogate pair, which RFC 8259 allows (8.2). It is read
    /// as U+FFFD.
    let takesUnpairedSurrogates: Bool

    private init(
        maxDepth: Int, maxNumberBytes: Int, takesRepeatedNames: Bool,
        takesUnpairedSurrogates: Bool = false
    ) {
        self.maxDepth = maxDepth
        self.maxNumberBytes = maxNumberBytes
        self.takesRepeatedNames = takesRepeatedNames
        self.takesUnpairedSurrogates = takesUnpairedSurrogates
    }

    /// A push's payload, as the push services accept it.
    package static let payload = JSONRules(
        maxDepth: JSONValue.maximumDepth, maxNumberBytes: 1024, takesRepeatedNames: true,
        takesUnpairedSurrogates: true)

    /// The same bounds with another depth.
    package func nested(upTo maxDepth: Int) -> JSONRules {
        var rules = self
        rules.maxDepth = maxDepth
        return rules
    }

    /// An event in proto3 JSON. Its texts are those of protobuf, which have no half of a pair.
    package static let event = JSONRules(
        maxDepth: 100, maxNumberBytes: .max, takesRepeatedNames: true)

    /// The parts of a token. A repeated name is refused, because two readers may choose different
    /// values (RFC 7515 section 4, RFC 7519 section 4). Tokens of well-known issuers nest up to
    /// four levels.
    static let token = JSONRules(maxDepth: 8, maxNumberBytes: 32, takesRepeatedNames: false)
}

/// Why bytes are not JSON, or not accepted.
package struct JSONFault: Error, Equatable {
    /// The first byte, from 0, that is no valid JSON or begins a level too many; nil if the
    /// document is valid but its value cannot be accepted.
    package let offset: Int?
    /// The position, and the rule that is broken there.
    package let reason: String
    /// Whether the JSON nests deeper than the reader's limit.
    package var isTooDeep = false

    /// Creates a fault.
    ///
    /// - Parameter offset: nil if the document is valid but its value cannot be accepted.
    package init(offset: Int?, reason: String, isTooDeep: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isTooDeep = isTooDeep
    }
}

/// A string's bytes between its quotes.
struct JSONText<Bytes: RandomAccessCollection<UInt8>> {
    let bytes: Bytes.SubSequence
    /// Whether it contains escapes, so that its text differs from its bytes.
    let isEscaped: Bool
}

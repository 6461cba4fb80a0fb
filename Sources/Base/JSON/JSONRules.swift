// What a reader of JSON takes, and what it says where it takes nothing.
internal import WireFormat

/// The bounds of one kind of document.
package struct JSONRules: Sendable {
    /// Objects and arrays that may lie within one another.
    let maxDepth: Int
    /// Characters of a number.
    let maxNumberBytes: Int
    /// Whether a name may stand twice in an object; the first one holds then.
    let takesRepeatedNames: Bool

    /// Creates the bounds of a kind of document.
    package init(maxDepth: Int, maxNumberBytes: Int, takesRepeatedNames: Bool) {
        self.maxDepth = maxDepth
        self.maxNumberBytes = maxNumberBytes
        self.takesRepeatedNames = takesRepeatedNames
    }

    /// A push's payload, as the push services take it.
    package static let payload = JSONRules(
        maxDepth: JSONValue.maximumDepth, maxNumberBytes: 1024, takesRepeatedNames: true)

    /// An event in proto3 JSON, where SwiftProtobuf has refused it: the deepest that it reads.
    static let event = JSONRules(
        maxDepth: 100, maxNumberBytes: .max, takesRepeatedNames: true)

    /// The parts of a token. A name that stands twice is refused, for two readers may take it two
    /// ways (RFC 7515 section 4, RFC 7519 section 4); those of the well-known issuers nest up to
    /// four levels.
    static let token = JSONRules(maxDepth: 8, maxNumberBytes: 32, takesRepeatedNames: false)
}

/// Why bytes are no JSON that is taken.
package struct JSONFault: Error, Equatable {
    /// The first byte, from 0, that no JSON text has there, or that begins a level too many; nil
    /// where the grammar holds and the value cannot be taken.
    package let offset: Int?
    /// The place and the rule that is broken there.
    package let reason: String
    /// Whether it is JSON that nests deeper than the reader goes.
    package var isTooDeep = false

    /// Creates a fault.
    ///
    /// - Parameter offset: nil where the grammar holds and the value cannot be taken.
    package init(offset: Int?, reason: String, isTooDeep: Bool = false) {
        self.offset = offset
        self.reason = reason
        self.isTooDeep = isTooDeep
    }
}

/// A string as it stands between its quotes.
struct JSONText<Bytes: RandomAccessCollection<UInt8>> {
    let bytes: Bytes.SubSequence
    /// Whether it holds escapes, so that it says something else than its bytes.
    let isEscaped: Bool
}

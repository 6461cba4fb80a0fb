package import WireFormat

/// Reads a document in place, step by step, for a reader that makes no values of it: the grammar
/// and the faults are those of `JSONReader`.
///
/// Not generic, as the entry points of `JSONReader` are not: a step is one call into this module.
package struct JSONCursor {
    /// A string as it stands in the document, between its quotes.
    package struct Text {
        /// The bytes, with escapes as they are.
        package let bytes: Bytes
        /// Whether there are escapes, so that the text differs from the bytes.
        package let isEscaped: Bool
        /// The offset of the opening quotation mark.
        package let offset: Int

        /// The text's bytes, which may be no UTF-8: escapes resolved. The reader has checked them.
        package var unescaped: [UInt8] {
            guard self.isEscaped else { return Array(self.bytes) }
            // What `string` has read has no escape that this refuses.
            return (try? JSONReader<Slice<Bytes>>.unescaped(self.bytes[...])) ?? []
        }
    }

    private let document: Bytes
    private var reader: JSONReader<Slice<Bytes>>

    /// Creates a cursor at a byte of the document, which must outlive it.
    package init(_ document: Bytes, _ rules: JSONRules, from offset: Int = 0) {
        self.document = document
        self.reader = JSONReader(document[...], rules, at: offset)
    }

    /// The bytes before the cursor.
    package var offset: Int { self.reader.position }

    /// Moves on, to a place that another cursor has reached in the same document.
    package mutating func move(to offset: Int) { self.reader.position = offset }

    /// The first byte of the next value, behind white space; nil at the end.
    package mutating func start() -> UInt8? { self.reader.start() }

    /// Reads the opening bracket of an object or array, the innermost of `depth` ones.
    ///
    /// - Throws: a fault if that is too deep.
    package mutating func enter(depth: Int) throws(JSONFault) { try self.reader.enter(depth) }

    /// The name of an object's next member, whose value follows; nil at the object's end.
    ///
    /// - Throws: a fault in the grammar.
    package mutating func nextName(isFirst: Bool) throws(JSONFault) -> Text? {
        guard let name = try self.reader.nextName(isFirst: isFirst) else { return nil }
        return Self.text(name)
    }

    /// Whether an array has another element, which follows; false at the array's end.
    ///
    /// - Throws: a fault in the grammar.
    package mutating func hasElement(isFirst: Bool) throws(JSONFault) -> Bool {
        try self.reader.hasElement(isFirst: isFirst)
    }

    /// Reads a string, whose quotation mark `start` has found.
    ///
    /// - Throws: a fault in the grammar, or half of a surrogate pair, if the rules take none.
    package mutating func string() throws(JSONFault) -> Text {
        Self.text(try self.reader.string())
    }

    /// Reads a value.
    ///
    /// - Throws: a fault in the grammar, or in what the rules take.
    package mutating func value(depth: Int = 0) throws(JSONFault) -> JSONValue {
        try self.reader.value(depth: depth)
    }

    /// Checks a value without keeping it; its strings may be no UTF-8.
    ///
    /// - Throws: a fault in the grammar, or in what the rules take.
    package mutating func pass(depth: Int = 0) throws(JSONFault) {
        try self.reader.pass(depth: depth)
    }

    /// Checks that nothing follows.
    ///
    /// - Throws: a fault if something does.
    package mutating func finish() throws(JSONFault) { try self.reader.finish() }

    private static func text(_ text: JSONText<Slice<Bytes>>) -> Text {
        Text(
            bytes: Bytes(rebasing: text.bytes), isEscaped: text.isEscaped,
            offset: text.bytes.startIndex - 1)
    }
}

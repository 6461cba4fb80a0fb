// Reads a document of which little is needed: it checks all of it, and makes values only of the
// parts that are needed. It costs a few nanoseconds a byte, whatever the rest of the document
// contains.
internal import WireFormat

/// The parts of a document to keep.
package struct JSONShape: Sendable {
    /// A member of an object that is kept.
    struct Member: Sendable {
        /// The whole path, such as `data._dId`.
        let path: String
        let name: String
        let shape: JSONShape
    }

    /// The members of an object to keep. Without any, a string, number or word is kept as it is,
    /// and an object or array as an empty one.
    let members: [Member]

    /// Whether two different values of it are a contradiction.
    let isCompared: Bool

    /// A value without members.
    package static let value = JSONShape([:])

    /// A value of which only the presence matters, and the text if it is one: a number or a word is
    /// kept as null.
    package static let presence = JSONShape(members: [], isCompared: false)

    /// An object of whose members, too, only the presence matters. Of a string it is the string.
    package static func presence(of members: [String]) -> JSONShape {
        JSONShape(
            members: members.map { Member(path: $0, name: $0, shape: .presence) },
            isCompared: false)
    }

    /// An object with these members.
    package init(
        _ members: KeyValuePairs<String, JSONShape>, _ more: KeyValuePairs<String, JSONShape> = [:]
    ) {
        self.init(
            members: (Array(members) + Array(more)).map { name, shape in
                Member(path: name, name: name, shape: shape.moved(below: name + "."))
            }, isCompared: true)
    }

    private init(members: [Member], isCompared: Bool) {
        self.members = members
        self.isCompared = isCompared
    }

    private func moved(below path: String) -> JSONShape {
        JSONShape(
            members: self.members.map { member in
                Member(
                    path: path + member.path, name: member.name,
                    shape: member.shape.moved(below: path))
            }, isCompared: self.isCompared)
    }
}

// Each type of bytes has an entry point that is not generic, so that the compiler specializes the
// reader in this module. Called from another one, generic code makes an indirect call per byte.

extension JSONReader<Slice<UnsafeRawBufferPointer>> {
    /// Reads a whole document and keeps what has the shape. Of a member that occurs more than once
    /// the first value is kept, and its path is a contradiction where another one differs. The
    /// offset is that of the first escape that is half of a surrogate pair. A byte order mark
    /// before it is passed over.
    ///
    /// - Throws: the first fault, with its place. Strings that are not kept may be no UTF-8.
    package static func kept(
        of document: UnsafeRawBufferPointer, _ shape: JSONShape, _ rules: JSONRules
    ) throws(JSONFault) -> (value: JSONValue, contradictions: [String], unpairedSurrogate: Int?) {
        try Self.kept(in: JSONValue.withoutMark(document), shape, rules)
    }
}

extension JSONReader<ArraySlice<UInt8>> {
    /// Reads a whole payload: its value, the paths of members that occur again in their object with
    /// another value, and the offset of the first escape that is half of a surrogate pair. A byte
    /// order mark before it is passed over.
    ///
    /// - Throws: the first fault, with its place.
    package static func whole(
        payload: [UInt8]
    ) throws(JSONFault) -> (value: JSONValue, repetitions: [[String]], unpairedSurrogate: Int?) {
        try Self.whole(of: JSONValue.withoutMark(payload), .payload)
    }

    /// Reads a document and keeps what has the shape, as the reader of borrowed bytes does.
    ///
    /// - Throws: the first fault, with its place.
    package static func kept(
        of document: [UInt8], _ shape: JSONShape, _ rules: JSONRules
    ) throws(JSONFault) -> (value: JSONValue, contradictions: [String], unpairedSurrogate: Int?) {
        try Self.kept(in: JSONValue.withoutMark(document), shape, rules)
    }
}

extension JSONReader {
    private static func kept(
        in bytes: Bytes, _ shape: JSONShape, _ rules: JSONRules
    ) throws(JSONFault) -> (value: JSONValue, contradictions: [String], unpairedSurrogate: Int?) {
        var reader = JSONReader(bytes, rules)
        let value = try reader.keep(shape, depth: 0)
        try reader.finish()
        return (value, reader.contradictions, reader.unpairedSurrogate)
    }

    private mutating func keep(_ shape: JSONShape, depth: Int) throws(JSONFault) -> JSONValue {
        switch self.start() {
        case UInt8(ascii: "["):
            try self.pass(depth: depth)
            return .array([])
        case UInt8(ascii: "{"): return .object(try self.keepMembers(shape, depth: depth + 1))
        case UInt8(ascii: "\""): return try self.value(depth: depth)
        default:
            // A number that nobody reads may be outside of every range.
            guard shape.isCompared else {
                try self.pass(depth: depth)
                return .null
            }
            return try self.value(depth: depth)
        }
    }

    private mutating func keepMembers(
        _ shape: JSONShape, depth: Int
    ) throws(JSONFault) -> JSONObject {
        var members = JSONObject()
        try self.eachMember(depth: depth) { reader, name throws(JSONFault) in
            guard let kept = try reader.member(name, of: shape) else {
                return try reader.pass(depth: depth)
            }
            let value = try reader.keep(kept.shape, depth: depth)
            if members[kept.name] == nil {
                members[kept.name] = value
            } else if kept.shape.isCompared, members[kept.name] != value {
                reader.contradictions.append(kept.path)
            }
        }
        return members
    }

    private func member(
        _ name: JSONText<Bytes>, of shape: JSONShape
    ) throws(JSONFault) -> JSONShape.Member? {
        guard name.isEscaped else {
            return shape.members.first { $0.name.utf8.elementsEqual(name.bytes) }
        }
        guard !shape.members.isEmpty else { return nil }
        let text = try self.text(of: name)
        return shape.members.first { $0.name.utf8.elementsEqual(text.utf8) }
    }

    /// Checks the next value without keeping it.
    mutating func pass(depth: Int) throws(JSONFault) {
        switch self.start() {
        case UInt8(ascii: "{"):
            try self.eachMember(depth: depth + 1) { reader, _ throws(JSONFault) in
                try reader.pass(depth: depth + 1)
            }
        case UInt8(ascii: "["):
            try self.eachElement(depth: depth + 1) { reader throws(JSONFault) in
                try reader.pass(depth: depth + 1)
            }
        case UInt8(ascii: "\""): _ = try self.string()
        case UInt8(ascii: "-"), (0x30...0x39)?: _ = try self.digitsOfNumber()
        default: _ = try self.value(depth: depth)
        }
    }
}

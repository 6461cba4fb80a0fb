// The size of a document in compact JSON: what remains of it when a program sends it on, however
// it was indented and escaped.
internal import WireFormat

extension JSONReader<ArraySlice<UInt8>> {
    /// The bytes of a value in compact JSON in UTF-8: without spaces, with no escapes but those
    /// that JSON requires, and with its members and digits as they are. Of a member that occurs
    /// more than once, the path leads to the first.
    ///
    /// - Parameter path: the names of the members that lead to the value.
    /// - Returns: nil if there is no value.
    /// - Throws: the first fault, with its place.
    package static func compactByteCount(
        of document: [UInt8], at path: [String], _ rules: JSONRules
    ) throws(JSONFault) -> Int? {
        var reader = JSONReader(JSONValue.withoutMark(document), rules)
        let count = try reader.compactByteCount(at: path[...], depth: 0)
        try reader.finish()
        return count
    }
}

extension JSONReader {
    private mutating func compactByteCount(
        at path: ArraySlice<String>, depth: Int
    ) throws(JSONFault) -> Int? {
        guard let name = path.first else { return try self.compactByteCount(depth: depth) }
        guard self.start() == UInt8(ascii: "{") else {
            try self.pass(depth: depth)
            return nil
        }
        var count: Int?
        var isFound = false
        try self.eachMember(depth: depth + 1) { reader, text throws(JSONFault) in
            guard !isFound, try reader.text(of: text).utf8.elementsEqual(name.utf8) else {
                return try reader.pass(depth: depth + 1)
            }
            isFound = true
            count = try reader.compactByteCount(at: path.dropFirst(), depth: depth + 1)
        }
        return count
    }

    private mutating func compactByteCount(depth: Int) throws(JSONFault) -> Int {
        // Each member and each element brings a comma with it; for the first one that stands for
        // the opening bracket.
        var count = 1
        switch self.start() {
        case UInt8(ascii: "{"):
            try self.eachMember(depth: depth + 1) { reader, name throws(JSONFault) in
                count += 2 + reader.compactByteCount(of: name)
                count += try reader.compactByteCount(depth: depth + 1)
            }
            return max(count, 2)
        case UInt8(ascii: "["):
            try self.eachElement(depth: depth + 1) { reader throws(JSONFault) in
                count += 1
                count += try reader.compactByteCount(depth: depth + 1)
            }
            return max(count, 2)
        case UInt8(ascii: "\""): return self.compactByteCount(of: try self.string())
        case UInt8(ascii: "-"), (0x30...0x39)?: return try self.digitsOfNumber().0.count
        default: return try self.value(depth: depth) == .bool(false) ? 5 : 4
        }
    }

    /// The bytes of a string and its quotes.
    private func compactByteCount(of string: JSONText<Bytes>) -> Int {
        var count = 2
        var rest = string.bytes
        while let byte = rest.popFirst() {
            count += 1
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else { continue }
            switch escape {
            case UInt8(ascii: "/"): break
            case UInt8(ascii: "u"): count += Self.compactByteCount(ofEscapeIn: &rest) - 1
            default: count += 1
            }
        }
        return count
    }

    /// The bytes of an escape behind `\u`, or of two that are a surrogate pair. Half of a pair is
    /// read as U+FFFD.
    private static func compactByteCount(ofEscapeIn text: inout Bytes.SubSequence) -> Int {
        switch Self.hexadecimal(in: &text) {
        case 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x22, 0x5c: return 2
        case 0..<0x20: return 6
        case 0..<0x80: return 1
        case 0..<0x800: return 2
        case 0xd800..<0xdc00:
            var rest = text
            guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
                (0xdc00..<0xe000).contains(Self.hexadecimal(in: &rest))
            else { return 3 }
            text = rest
            return 4
        default: return 3
        }
    }

    /// Reads four hexadecimal digits, of which `string` has made sure.
    private static func hexadecimal(in text: inout Bytes.SubSequence) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = text.popFirst() else { break }
            value = value << 4 | UInt32(byte & 0xf &+ (byte > UInt8(ascii: "9") ? 9 : 0))
        }
        return value
    }
}

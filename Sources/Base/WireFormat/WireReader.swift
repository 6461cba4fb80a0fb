// Reads the protobuf wire format in place. SwiftProtobuf's decoder is the reference:
// EventViewPropertyTests checks that both accept or both refuse the same bytes, except that this
// reader also refuses what other parsers refuse. A sink forwards an event byte for byte, and one
// that its receiver cannot parse would be delivered again without end.

/// Why bytes are not a protobuf message, or not an accepted one. All cases are handled alike; the
/// reason is for diagnosis.
@usableFromInline package enum WireError: Error, Equatable {
    /// The bytes end inside a field.
    case truncated
    /// A tag, length or group is not valid protobuf.
    case malformed
    /// A string is not UTF-8.
    case invalidUTF8
    /// Messages or groups are nested deeper than 96 levels, counting the outermost message.
    case tooDeep
    /// The event, or a name in it, is too large for its index. Admission never accepts such an
    /// event.
    case tooLarge
}

/// A cursor over the bytes of one message. The reader of a message calls `nextTag` in a loop, and
/// then one method for the field's value, or `skip`.
///
/// It copies no field, never reads beyond the bytes and never traps on any input.
/// Nested groups take no stack. What every field takes is inlinable: calls into this module cost
/// admission a sixth.
@usableFromInline package struct WireReader {
    /// The levels of messages and groups that may be nested in a request. Most parsers take 100,
    /// which count the request itself, and a sink's message has the event two levels deeper.
    @inlinable package static var maxDepth: Int { 95 }

    @usableFromInline let bytes: Bytes
    /// The number of bytes read.
    @usableFromInline package var offset = 0
    /// How many more levels may be nested.
    @usableFromInline let remainingDepth: Int

    /// Creates a reader of `bytes`, in which `remainingDepth` levels may be nested.
    @inlinable
    package init(_ bytes: Bytes, remainingDepth: Int = WireReader.maxDepth) {
        self.bytes = bytes
        self.remainingDepth = remainingDepth
    }

    /// The next field's tag (field number times 8, plus the wire type); nil at the end. A tag takes
    /// at most five bytes.
    @inlinable @inline(__always)
    package mutating func nextTag() throws(WireError) -> UInt32? {
        guard self.offset < self.bytes.count else { return nil }
        let first = self.bytes[self.offset]
        // The fast path: a one-byte tag with a valid field number that starts no group.
        if first < 0x80, first > 7, first & 7 < 3 || first & 7 == 5 {
            self.offset &+= 1
            return UInt32(first)
        }
        return try self.nextLongTag()
    }

    @usableFromInline
    mutating func nextLongTag() throws(WireError) -> UInt32? {
        let start = self.offset
        let tag = try self.varint()
        let length = self.offset &- start
        guard length < 5 || (length == 5 && self.bytes[self.offset &- 1] <= 15) else {
            throw .malformed
        }
        return try self.checked(tag, groupEnd: nil)
    }

    private func checked(_ tag: UInt64, groupEnd: UInt32?) throws(WireError) -> UInt32 {
        guard tag < UInt64(UInt32.max), tag > 7 else { throw .malformed }
        let tag = UInt32(truncatingIfNeeded: tag)
        let isGroupEnd = tag & 7 == WireType.endGroup
        guard tag & 7 <= 5, !isGroupEnd || tag == groupEnd else { throw .malformed }
        return tag
    }

    /// Reads a varint of one to ten bytes and at most 64 bits, as Go's parser requires.
    @inlinable @inline(__always)
    package mutating func varint() throws(WireError) -> UInt64 {
        if self.offset < self.bytes.count {
            let first = self.bytes[self.offset]
            if first < 0x80 {
                self.offset &+= 1
                return UInt64(first)
            }
        }
        return try self.longVarint()
    }

    @inlinable
    mutating func longVarint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard self.offset < self.bytes.count else { throw .truncated }
            let byte = self.bytes[self.offset]
            // The tenth byte holds only the 64th bit, and is the last.
            guard shift < 63 || byte <= 1 else { throw .malformed }
            self.offset &+= 1
            value |= UInt64(byte & 0x7f) &<< shift
            if byte < 0x80 { return value }
            shift &+= 7
        }
    }

    /// Reads the value of an enum or int32 field.
    @inlinable @inline(__always)
    package mutating func int32() throws(WireError) -> Int32 {
        Int32(truncatingIfNeeded: try self.varint())
    }

    /// Reads the value of a length-delimited field, in place.
    @inlinable @inline(__always)
    package mutating func slice() throws(WireError) -> Bytes {
        let length = try self.varint()
        guard length <= UInt64(self.bytes.count &- self.offset) else { throw .truncated }
        let end = self.offset &+ Int(length)
        defer { self.offset = end }
        return Bytes(rebasing: self.bytes[self.offset..<end])
    }

    /// Reads the value of a string field, in place, and checks that it is UTF-8.
    @inlinable @inline(__always)
    package mutating func string() throws(WireError) -> Bytes {
        let slice = try self.slice()
        guard slice.isValidUTF8 else { throw .invalidUTF8 }
        return slice
    }

    /// Creates a reader for the value of a message field, one level deeper.
    @inlinable @inline(__always)
    package mutating func message() throws(WireError) -> WireReader {
        let slice = try self.slice()
        guard self.remainingDepth > 0 else { throw .tooDeep }
        return WireReader(slice, remainingDepth: self.remainingDepth &- 1)
    }

    /// Creates a reader for a map entry, which does not count as a level.
    @inlinable
    package mutating func mapEntry() throws(WireError) -> WireReader {
        WireReader(try self.slice(), remainingDepth: self.remainingDepth)
    }

    /// Skips the value of a field that is not read, including everything in a group.
    package mutating func skip(_ tag: UInt32) throws(WireError) {
        switch tag & 7 {
        case WireType.varint: _ = try self.varint()
        case WireType.fixed64: try self.advance(8)
        case WireType.lengthDelimited: _ = try self.slice()
        case WireType.fixed32: try self.advance(4)
        case WireType.startGroup: try self.skipGroup(tag)
        default: throw .malformed
        }
    }

    /// Skips the value of a field that is not read in a message with fields of these wire types. A
    /// field of the message with another one is refused: SwiftProtobuf and others keep it as
    /// unknown, Rust's prost refuses it, and protobuf.js reads what it takes for the field's value.
    package mutating func skip(_ tag: UInt32, in wireTypes: UInt64) throws(WireError) {
        let number = tag >> 3
        if number <= WireType.lastNumber {
            let own = UInt32(truncatingIfNeeded: wireTypes >> (UInt64(number) &* 3)) & 7
            guard own == WireType.none || own == tag & 7 else { throw .malformed }
        }
        try self.skip(tag)
    }

    /// Skips a group iteratively: nested groups take no stack, so their depth cannot overflow it.
    private mutating func skipGroup(_ tag: UInt32) throws(WireError) {
        var openGroups = [tag]
        guard self.remainingDepth > 0 else { throw .tooDeep }
        while let group = openGroups.last {
            guard self.offset < self.bytes.count else { throw .truncated }
            let groupEnd = group &+ 1
            let tag = try self.checked(try self.varint(), groupEnd: groupEnd)
            if tag == groupEnd {
                openGroups.removeLast()
            } else if tag & 7 == WireType.startGroup {
                guard openGroups.count < self.remainingDepth else { throw .tooDeep }
                openGroups.append(tag)
            } else {
                try self.skip(tag)
            }
        }
    }

    private mutating func advance(_ count: Int) throws(WireError) {
        guard count <= self.bytes.count &- self.offset else { throw .truncated }
        self.offset &+= count
    }
}

/// The wire types of the protobuf encoding (protobuf.dev/programming-guides/encoding).
package enum WireType {
    /// A varint: numbers, enums and Booleans.
    package static let varint: UInt32 = 0
    static let fixed64: UInt32 = 1
    /// Bytes after their length: strings, messages and packed numbers.
    package static let lengthDelimited: UInt32 = 2
    /// The start of a group, which proto3 no longer uses.
    package static let startGroup: UInt32 = 3
    static let endGroup: UInt32 = 4
    static let fixed32: UInt32 = 5

    /// What stands among the wire types of a message (`wireTypes` in `FieldTag`) for a number that
    /// none of its fields has, and the highest number that they have room for.
    static let (none, lastNumber): (UInt32, UInt32) = (7, 20)
    /// The wire types of a message without fields.
    package static let ofNoField = UInt64.max
}

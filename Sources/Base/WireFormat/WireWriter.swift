/// Writes the protobuf wire format (protobuf.dev/programming-guides/encoding) at the end of an
/// array: fields by their tags, which `WireReader` reads. Nothing is checked: the caller knows that
/// the tag's wire type is that of the value.
extension [UInt8] {
    /// Appends a varint.
    @inlinable
    package mutating func appendVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends the begin of a length-delimited field, whose value of `count` bytes the caller
    /// appends.
    @inlinable
    package mutating func appendHead(_ tag: UInt32, count: Int) {
        self.appendVarint(UInt64(tag))
        self.appendVarint(UInt64(truncatingIfNeeded: count))
    }

    /// Appends a length-delimited field: a string, a message or packed numbers.
    @inlinable
    package mutating func appendField(_ tag: UInt32, _ value: UnsafeRawBufferPointer) {
        self.appendHead(tag, count: value.count)
        self.append(contentsOf: value)
    }

    /// Appends a length-delimited field.
    @inlinable
    package mutating func appendField(_ tag: UInt32, _ value: [UInt8]) {
        value.withUnsafeBytes { self.appendField(tag, $0) }
    }

    /// Appends a varint field, which is left out if it is 0, as proto3 does.
    @inlinable
    package mutating func appendNumber(_ tag: UInt32, _ value: UInt64) {
        if value == 0 { return }
        self.appendVarint(UInt64(tag))
        self.appendVarint(value)
    }
}

extension UInt64 {
    /// The number of bytes of its varint.
    package var varintCount: Int { Swift.max(1, (64 - self.leadingZeroBitCount + 6) / 7) }
}

/// What SwiftProtobuf reads and other parsers do not.
package enum StrangeEncodings {
    /// Whether bytes may have a varint of more than 64 bits, or a map entry's tag of more than five
    /// bytes: both begin with five bytes or more of which each has its highest bit.
    package static func mayBe(in bytes: some Sequence<UInt8>) -> Bool {
        var length = 0
        for byte in bytes {
            length = byte < 0x80 ? 0 : length + 1
            if length == 5 { return true }
        }
        return false
    }
}

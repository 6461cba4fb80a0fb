extension [UInt8] {
    /// A length-delimited field of a protobuf message.
    ///
    /// - Parameter number: the field's number; below 16, so that its tag is one byte.
    package init(field number: UInt8, _ value: [UInt8]) {
        self = [number << 3 | 2]
        var length = value.count
        while length >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: length) | 0x80)
            length >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: length))
        self += value
    }
}

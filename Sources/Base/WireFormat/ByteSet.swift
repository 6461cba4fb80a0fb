/// A set of ASCII characters as a 128-bit mask: a lookup needs neither a branch nor a table.
@usableFromInline package struct ByteSet {
    @usableFromInline let low: UInt64
    @usableFromInline let high: UInt64

    @inlinable
    init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// 0…9, a…f, A…F.
    @inlinable package static var hexDigits: ByteSet {
        ByteSet(low: 0x03ff_0000_0000_0000, high: 0x0000_007e_0000_007e)
    }
    /// The characters that a URL may contain unescaped: A…Z, a…z, 0…9, and `. _ -` (D10).
    @inlinable package static var safeInURL: ByteSet {
        ByteSet(low: 0x03ff_6000_0000_0000, high: 0x07ff_fffe_87ff_fffe)
    }

    /// Whether the byte is in the set.
    @inlinable
    package func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? self.low : self.high
        return byte < 0x80 && word &>> UInt64(byte & 63) & 1 == 1
    }

    /// Whether every byte is in the set.
    @inlinable
    package func containsAll(_ bytes: Bytes) -> Bool {
        for byte in bytes where !self.contains(byte) { return false }
        return true
    }
}

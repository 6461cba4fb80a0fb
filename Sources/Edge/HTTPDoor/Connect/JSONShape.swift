/// What costs a decoder of a JSON text more than the text's bytes, found before it is decoded. The
/// text may be damaged: what matters is that no decoder can find more in it than is found here.
struct JSONShape {
    /// The number of objects.
    private(set) var objects = 0
    /// The bytes of the longest name of a member, as they are written.
    private(set) var longestName = 0

    /// Looks through a text.
    init(of text: [UInt8]) {
        var (isInString, isEscaped, start, length) = (false, false, 0, 0)
        for (index, byte) in text.enumerated() {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    length = index &- start
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isInString, start) = (true, index &+ 1)
            case UInt8(ascii: "{"): self.objects &+= 1
            // The string before it is a name.
            case UInt8(ascii: ":"): self.longestName = max(self.longestName, length)
            default: break
            }
        }
    }
}

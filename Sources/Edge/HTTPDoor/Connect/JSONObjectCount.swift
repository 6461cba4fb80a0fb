/// Counts the objects of a JSON text before it is decoded. The text may be damaged: what matters is
/// that no decoder can find more objects in it than are counted.
enum JSONObjectCount {
    /// Whether a text has at most so many objects.
    static func isAtMost(_ limit: Int, in text: [UInt8]) -> Bool {
        var count = 0
        var (isInString, isEscaped) = (false, false)
        for byte in text {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == UInt8(ascii: "{") {
                count &+= 1
                guard count <= limit else { return false }
            }
        }
        return true
    }
}

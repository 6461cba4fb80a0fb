/// Why no event can be made from a payload. Nothing was sent.
package enum PayloadError: Error, Equatable {
    /// The JSON exceeds the reader's limit.
    case tooLarge(byteCount: Int, limit: Int)
    /// The bytes are not JSON; `reason` is the parser's.
    case malformed(reason: String)
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, the value seen, the rule and the fix.
    package var description: String {
        switch self {
        case .tooLarge(let byteCount, let limit):
            "The payload has \(byteCount) bytes, and at most \(limit) are read. APNs and FCM take "
                + "4096; give the payload alone, one per file."
        case .malformed(let reason):
            "The payload is no JSON that can be read: \(reason). Give one JSON object in UTF-8."
        }
    }
}

/// A payload cannot be converted to an event without loss. Nothing was sent.
package enum PayloadError: Error, Equatable {
    /// The JSON exceeds the reader's limit.
    case tooLarge(byteCount: Int, limit: Int)
    /// The bytes are not JSON; `reason` is the parser's.
    case malformed(reason: String)
    /// A known key has a value of the wrong type.
    case wrongType(key: String, seen: String, rule: String, fix: String)
    /// A key has no field in the contract, so that it would be lost.
    case unknownKey(key: String, seen: String, rule: String, fix: String)
}

extension PayloadError: CustomStringConvertible {
    /// What is wrong, where, the value seen, the rule and the fix.
    package var description: String {
        switch self {
        case .tooLarge(let byteCount, let limit):
            "The payload has \(byteCount) bytes, and at most \(limit) are read. APNs and FCM take "
                + "4096; give the payload alone, one per file."
        case .malformed(let reason):
            "The payload is no JSON that can be read: \(reason). Give one JSON object in UTF-8."
        case .wrongType(let key, let seen, let rule, let fix):
            "`\(key)` is \(seen). \(rule); \(fix)."
        case .unknownKey(let key, let seen, let rule, let fix):
            "`\(key)` has no place in an event; it is \(seen). \(rule); \(fix)."
        }
    }
}

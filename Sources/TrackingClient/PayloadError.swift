// Why a payload's JSON gave no event.

/// A payload that cannot be carried as it is. Nothing of it was sent.
package enum PayloadError: Error, Equatable {
    /// The bytes are more than the reader takes.
    case tooLarge(byteCount: Int, limit: Int)
    /// The bytes are no JSON; the parser's reason.
    case malformed(reason: String)
    /// A known key holds a value of a kind that it cannot hold.
    case wrongType(key: String, seen: String, rule: String, fix: String)
    /// A key for which the contract has no field, so that reading on would lose it.
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

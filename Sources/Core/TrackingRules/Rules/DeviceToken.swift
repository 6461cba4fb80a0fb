// A sender's fact names no device: what looks like a token is refused (D62).
internal import WireFormat

/// The form of a device's token, by which push services reach it.
enum DeviceToken {
    /// FCM's: an instance's id, a colon, and 100 bytes or more of Base64 for URLs.
    case fcm
    /// FCM's, or APNs': 32 bytes or more in hex. A hash has that form too, so that it is looked for
    /// only where a hash has no place.
    case any

    /// Whether bytes have the form.
    func matches(_ bytes: Bytes) -> Bool {
        switch self {
        case .fcm: Self.isFCM(bytes)
        case .any: Self.isFCM(bytes) || Self.isAPNs(bytes)
        }
    }

    private static let minAPNsDigits = 64
    private static let minFCMBytes = 100

    private static func isAPNs(_ bytes: Bytes) -> Bool {
        bytes.count >= Self.minAPNsDigits && ByteSet.hexDigits.containsAll(bytes)
    }

    private static func isFCM(_ bytes: Bytes) -> Bool {
        guard bytes.count > Self.minFCMBytes,
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            bytes.count - colon > Self.minFCMBytes
        else { return false }
        return ByteSet.safeInURL.containsAll(Bytes(rebasing: bytes[..<colon]))
            && ByteSet.safeInURL.containsAll(Bytes(rebasing: bytes[(colon + 1)...]))
    }
}

extension [Violation] {
    /// Refuses the fields of an event that look like a device's token. Their values are not shown.
    mutating func refuseTokens(in fields: [(name: String, value: Bytes, form: DeviceToken)]) {
        for field in fields where field.form.matches(field.value) {
            self.append(
                Violation(
                    field.name, .format,
                    "\(field.value.count) bytes that look like a device's token, which is nowhere "
                        + "recorded: send the push service's id of the message, or leave it out"))
        }
    }
}

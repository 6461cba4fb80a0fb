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

extension EventView {
    /// Whether a sender's fact has what looks like a device's token, so that nothing may keep it.
    var namesDevice: Bool {
        guard self.interaction == .pushSend else { return false }
        var isFound = false
        self.forEachDeviceToken { _, _ in isFound = true }
        return isFound
    }

    /// Calls `body` with each text of a sender's fact that looks like a device's token.
    fileprivate func forEachDeviceToken(_ body: (_ field: String, _ value: Bytes) -> Void) {
        func look(at field: String, _ value: Bytes, for form: DeviceToken) {
            if form.matches(value) { body(field, value) }
        }
        let send = self.pushSend
        look(at: "event_id", self.eventID, for: .fcm)
        look(at: "app_id", self.appID, for: .fcm)
        look(at: "subject_id", self.subjectID, for: .fcm)
        look(at: "push_send.delivery_id", send.deliveryID, for: .fcm)
        look(at: "push_send.broadlog_id", send.broadlogID, for: .fcm)
        look(at: "push_send.provider_code", send.providerCode, for: .any)
        look(at: "push_send.provider_message_id", send.providerMessageID, for: .any)
    }
}

extension [Violation] {
    /// Refuses the texts of a sender's fact that look like a device's token. They are not shown.
    mutating func refuseTokens(of event: EventView) {
        event.forEachDeviceToken { field, value in
            self.append(
                Violation(
                    field, .format,
                    "\(value.count) bytes that look like a device's token, which is nowhere "
                        + "recorded: send the push service's id of the message, or leave it out"))
        }
    }
}

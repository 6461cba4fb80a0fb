// The tracking flag as the vendor's client reads it, which differs between the platforms.

/// The tracking flag, as it was found in its place.
struct PayloadFlagReading {
    /// The key, letter for letter.
    static let key = "_acsDeliveryTracking"

    private enum State {
        case absent, on, off, unknown
        /// Not a string, on iOS: the client's cast gives nil.
        case uncast
    }

    private let state: State
    private let value: JSONValue?

    init(of subject: PayloadSubject) {
        let value = subject.scope[Self.key]
        self.value = value
        guard let value else {
            self.state = .absent
            return
        }
        switch (subject.platform, value.stringValue) {
        case (.android, "on"): self.state = .on
        case (.android, "off"): self.state = .off
        case (.android, _): self.state = .unknown
        case (.ios, nil): self.state = .uncast
        case (.ios, let text?) where Self.equalsInASCII(text, "on"): self.state = .on
        case (.ios, let text?) where Self.equalsInASCII(text, "off"): self.state = .off
        case (.ios, _): self.state = .unknown
        }
    }

    /// What is worth knowing of it, nothing for a plain `on`.
    func findings(in subject: PayloadSubject) -> [PayloadFinding] {
        let path = subject.path(Self.key)
        let seen = self.value?.described ?? "absent"
        switch self.state {
        case .absent:
            return [
                PayloadFinding(
                    .note, path,
                    "`\(Self.key)` is absent, which counts as `on`. Deliveries made before release "
                        + "21.1 and custom templates have none; add it to be able to switch "
                        + "tracking off.")
            ]
        case .on:
            guard self.value?.stringValue != "on" else { return [] }
            return [
                PayloadFinding(
                    .note, path,
                    "`\(Self.key)` is \(seen). iOS ignores its case, and Android would not track "
                        + "it; write \"on\" to have the same on both.")
            ]
        case .off:
            return [
                PayloadFinding(
                    .error, path,
                    "`\(Self.key)` is \(seen): tracking is switched off, and nothing is sent for "
                        + "any interaction. Write \"on\" if it should be tracked.")
            ]
        case .unknown:
            return [PayloadFinding(.error, path, self.unknownText(seen, subject.platform))]
        case .uncast:
            return [
                PayloadFinding(
                    .warning, path,
                    "`\(Self.key)` is \(seen). On iOS a flag that is no string counts as absent, "
                        + "so this is tracked, whatever it was to say. Write \"on\" or \"off\".")
            ]
        }
    }

    private func unknownText(_ seen: String, _ platform: PayloadPlatform) -> String {
        let rule =
            switch platform {
            case .android: "On Android it is the string \"on\" or \"off\", in lower case"
            case .ios: "On iOS it is \"on\" or \"off\", in any case and without spaces"
            }
        return "`\(Self.key)` is \(seen). \(rule), and anything else is not tracked. Write \"on\"."
    }

    /// Compares with a word of lower-case letters, ASCII alone (D46).
    private static func equalsInASCII(_ text: String, _ word: String) -> Bool {
        text.utf8.count == word.utf8.count
            && zip(text.utf8, word.utf8).allSatisfy { ($0 | 0x20) == $1 }
    }
}

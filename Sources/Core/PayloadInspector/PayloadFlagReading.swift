// The tracking flag as the vendor's client reads it; the platforms differ.
internal import JSON
internal import TrackingRules
internal import WireFormat

/// The tracking flag as it is in the scope.
struct PayloadFlagReading {
    private static let key = PayloadSubject.flagKey

    private let value: JSONValue?
    private let flag: TrackingFlag

    init(of subject: PayloadSubject) {
        self.value = subject.flagValue
        self.flag =
            subject.flag?.withBytes { TrackingFlag($0, platform: subject.platform) } ?? .absent
    }

    /// The finding on the flag; nil for a plain `on`.
    func finding(in subject: PayloadSubject) -> PayloadFinding? {
        let seen = self.value?.described ?? "absent"
        let (severity, text): (PayloadFinding.Severity, String)
        switch self.flag {
        case .absent where self.value == nil:
            severity = .note
            text =
                "`\(Self.key)` is absent, which counts as `on`. Deliveries made before release "
                + "21.1 and custom templates have none; add it to be able to switch tracking off."
        case .absent:
            severity = .warning
            text =
                "`\(Self.key)` is \(seen). On iOS a flag that is no string counts as absent, "
                + "so this is tracked, whatever it was to say. Write \"on\" or \"off\"."
        case .on:
            guard self.value?.stringValue?.equals("on") != true else { return nil }
            severity = .note
            text =
                "`\(Self.key)` is \(seen). iOS ignores its case, and Android would not track "
                + "it; write \"on\" to have the same on both."
        case .off:
            severity = .error
            text =
                "`\(Self.key)` is \(seen): tracking is switched off, and nothing is sent for "
                + "any interaction. Write \"on\" if it should be tracked."
        case .unknown:
            severity = .error
            text = self.unknownText(seen, subject.platform)
        }
        return PayloadFinding(severity, subject.flagPath, text)
    }

    private func unknownText(_ seen: String, _ platform: Platform) -> String {
        let rule =
            switch platform {
            case .android: "On Android it is the string \"on\" or \"off\", in lower case"
            case .ios: "On iOS it is \"on\" or \"off\", in any case and without spaces"
            }
        return
            "`\(Self.key)` is \(seen). \(rule), and anything else is not tracked. Write \"on\"."
    }
}

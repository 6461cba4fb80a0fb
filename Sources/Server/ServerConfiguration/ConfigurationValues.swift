// Typed values of every key: each is read as text, and checked here.
internal import ConfigurationKeys
internal import NIOCore

/// Values by key, with the problems found on the way.
struct ConfigurationValues {
    /// In the order of the documentation; a value that its key does not take is among them.
    private(set) var settings: [ConfigurationSetting]
    private(set) var problems: [String]
    private let places: [String: Int]

    /// Checks every setting against its key's rule, after the problems that its sources have.
    init(_ settings: [ConfigurationSetting], problems: [String]) {
        self.settings = settings
        self.problems = problems
        self.places = Dictionary(
            settings.enumerated().map { ($1.key.name, $0) }, uniquingKeysWith: { first, _ in first }
        )
        for setting in settings {
            if setting.key.takes(setting.text) {
                self.problems += Self.problems(of: setting)
            } else {
                self.problems.append(Self.problem(setting, "has to be " + setting.key.rule))
            }
        }
    }

    /// The value of a text or a choice; the default where the key does not take what is set.
    func text(_ name: String) -> String {
        let setting = self.setting(name)
        return setting.key.takes(setting.text) ? setting.text : setting.key.standardText
    }

    /// Whether something else than the default sets a key.
    func isSet(_ name: String) -> Bool { self.setting(name).origin != .standard }

    /// A host and a port; an address that cannot be taken apart is a problem.
    mutating func address(_ name: String, _ value: String) -> (host: String, port: Int) {
        let colon = value.lastIndex(of: ":") ?? value.startIndex
        let port = Int(value[colon...].dropFirst())
        var host = value[..<colon]
        // An IPv6 address stands in brackets: its own colons would hide where the port begins.
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.contains(":")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let port, (0...65535).contains(port), !host.contains(where: "[]".contains),
            isBracketed || !host.contains(":"), Self.isAddress(String(host))
        else {
            self.refuse(
                name, "has to be HOST:PORT with an IP address, as in 127.0.0.1:50051 or [::1]:50051"
            )
            return ("127.0.0.1", 0)
        }
        return (String(host), port)
    }

    /// The value of a key that is an address, or `off`, which is nil.
    mutating func optionalAddress(_ name: String) -> ListenAddress? {
        let value = self.text(name)
        if value == Self.off { return nil }
        let (host, port) = self.address(name, value)
        return ListenAddress(host: host, port: port)
    }

    private static let off = "off"

    /// Takes down that a key's value breaks a rule that its type does not hold.
    ///
    /// - Parameter rule: follows the value, as in `has to be a file of PEM certificates`.
    mutating func refuse(_ name: String, _ rule: String) {
        let setting = self.setting(name)
        // One problem for a value is enough.
        guard setting.isUsable else { return }
        self.problems.append(Self.problem(setting, rule))
    }

    /// Checks values as they are with others in the place of some, which `key` has set.
    mutating func check(
        _ texts: [String: String], setBy key: String, _ body: (inout Self) -> Void
    ) {
        var changed = self
        changed.problems = []
        let origin = self.setting(key).origin
        for (name, text) in texts {
            guard let place = self.places[name] else { continue }
            let setting = ConfigurationSetting(
                key: self.settings[place].key, text: text, origin: origin)
            changed.settings[place] = setting
            changed.problems += Self.problems(of: setting)
        }
        body(&changed)
        self.problems += changed.problems
    }

    /// A problem as it is told: where, which key, the value seen, the rule.
    static func problem(_ setting: ConfigurationSetting, _ rule: String) -> String {
        let place = setting.origin == .standard ? "" : "\(setting.origin): "
        return "\(place)\(setting.key.name) is \"\(setting.shownText)\", but \(rule)"
    }

    private static func problems(of setting: ConfigurationSetting) -> [String] {
        setting.key.problems(setting.text).map { Self.problem(setting, $0) }
    }

    // The transport takes no names: it would fail at the bind, and not say why.
    static func isAddress(_ host: String) -> Bool {
        (try? SocketAddress(ipAddress: host, port: 0)) != nil
    }

    private func setting(_ name: String) -> ConfigurationSetting {
        guard let place = self.places[name] else {
            preconditionFailure("\(name) is missing in ServerConfiguration.keys")
        }
        return self.settings[place]
    }
}

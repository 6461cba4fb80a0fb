// Values of the configuration as errors and `sightline config print` may show them.
internal import ConfigurationKeys
internal import RegexBuilder
internal import WireFormat

extension ConfigurationKey<ServerConfiguration> {
    /// A value of this key without what is secret in it: all of a secret key's, who is named in
    /// addresses, and in the list `sinks` the values of its sinks' secret keys.
    func shown(_ text: String) -> String {
        if self.isSecret { return text.isEmpty ? "" : UserInfo.mask }
        if self.unit == "list" { return ShownValue.withoutSecrets(text) }
        return UserInfo.hidden(in: text)
    }
}

/// Texts without their secrets. What is wrong may be anything, so rather too much is hidden.
enum ShownValue {
    /// The names of the sinks' secret keys within an item of `sinks`.
    static let secretNames = Set(
        ServerConfiguration.keys.filter { key in
            key.isSecret && SinkKind(rawValue: key.section) != nil
        }.map { String($0.name.dropFirst($0.section.count + 1)) })

    /// A list of YAML or JSON, which may be broken, without the values of secret keys either.
    static func withoutSecrets(_ list: String) -> String {
        // In quotes of either kind, or up to the end of the item.
        let value = #/"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[^,\]\}\s][^,\]\}\n]*/#
        var text = list
        for name in Self.secretNames {
            let setting = Regex {
                Anchor.wordBoundary
                Capture {
                    name
                    Optionally(CharacterClass.anyOf("\"'"))
                    ZeroOrMore(.whitespace)
                    ":"
                    ZeroOrMore(.whitespace)
                }
                value
            }
            text = text.replacing(setting) { "\($0.output.1)\(UserInfo.mask)" }
        }
        return UserInfo.hidden(in: text)
    }
}

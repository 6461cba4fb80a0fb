// One key with the value that it has now, for people and for comparing two configurations.
package import ConfigurationKeys

/// A key, its value as text, and where that was set.
package struct ConfigurationSetting: Sendable {
    /// What is set.
    package let key: ServerConfiguration.Key
    /// To what; a secret in the clear, so show `shownText` alone.
    package let text: String
    /// Where.
    package let origin: ConfigurationOrigin

    /// Whether the key takes the text, and nothing is wrong with it by itself.
    var isUsable: Bool { self.key.takes(self.text) && self.key.problems(self.text).isEmpty }

    /// The value as it may be printed.
    package var shownText: String { self.key.shown(self.text) }
}

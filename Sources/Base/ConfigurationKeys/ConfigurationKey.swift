// A key of the configuration: its name, its valid values, and the property that holds its value.

/// A key whose value is in a `Root`: the server's configuration, or a part of it.
package struct ConfigurationKey<Root: KeyedConfiguration>: Sendable {
    /// The name with dots, as in YAML. In the environment it is in upper case with underscores,
    /// after `SIGHTLINE_`.
    package let name: String
    /// The default.
    package let standard: StandardValue
    /// The key's meaning, for the documentation.
    package let meaning: String
    /// The unit or kind of the value, such as `bytes` or `file`; empty if the choices explain it.
    package let unit: String
    /// Whether the value itself is a secret, which is never shown. The path of a secret file is not
    /// one.
    package let isSecret: Bool
    /// Whether a running server applies a new value at SIGHUP.
    package let isReloadable: Bool

    /// Puts a valid text into a configuration. It does nothing for a key whose value depends on
    /// other keys, or that needs more checks than a type and a range: the server's configuration
    /// reads those itself.
    package let set: @Sendable (String, inout Root) -> Void

    /// A property of the configuration, nested to any depth.
    package typealias Property<Value> = WritableKeyPath<Root, Value> & Sendable

    /// Creates a key. Without a unit it gets the one at the end of its name.
    package init(
        _ name: String, _ standard: StandardValue, _ meaning: String, unit: String? = nil,
        isSecret: Bool = false, isReloadable: Bool = false,
        set: @escaping @Sendable (String, inout Root) -> Void = { _, _ in }
    ) {
        self.name = name
        self.standard = standard
        self.meaning = meaning
        self.unit = unit ?? standard.unit(ofKey: name)
        self.isSecret = isSecret
        self.isReloadable = isReloadable
        self.set = set
    }
}

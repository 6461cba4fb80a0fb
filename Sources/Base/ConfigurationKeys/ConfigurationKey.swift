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
    /// The property of `Root` that holds the value; nil if it has none of its own, or if a part of
    /// `Root` has it.
    let property: AnyProperty?

    /// What is wrong with a text that the key takes by its type; empty for most texts and keys.
    /// Each follows the words `KEY is "VALUE", but`.
    package let problems: @Sendable (String) -> [String]
    /// Puts a text without problems into a configuration. It does nothing for a key whose value
    /// depends on others: the server's configuration reads those.
    package let set: @Sendable (String, inout Root) -> Void

    /// A property of the configuration, nested to any depth.
    package typealias Property<Value> = WritableKeyPath<Root, Value> & Sendable
    /// The same, of any type.
    package typealias AnyProperty = any PartialKeyPath<Root> & Sendable

    /// Creates a key. Without a unit it gets the one at the end of its name.
    package init(
        _ name: String, of property: AnyProperty? = nil, _ standard: StandardValue,
        _ meaning: String, unit: String? = nil, isSecret: Bool = false, isReloadable: Bool = false,
        set: @escaping @Sendable (String, inout Root) -> Void = { _, _ in },
        problems: @escaping @Sendable (String) -> [String] = { _ in [] }
    ) {
        self.name = name
        self.property = property
        self.standard = standard
        self.meaning = meaning
        self.unit = unit ?? standard.unit(ofKey: name)
        self.isSecret = isSecret
        self.isReloadable = isReloadable
        self.set = set
        self.problems = problems
    }
}

// A key of the configuration: how it is written, what it takes, and where its value goes.

/// A key whose value is held by a `Root`: the server's configuration, or a part of it.
package struct ConfigurationKey<Root: KeyedConfiguration>: Sendable {
    /// Dotted, as in YAML; in the environment `SIGHTLINE_` and upper case with underscores.
    package let name: String
    /// The value where nobody sets it.
    package let standard: StandardValue
    /// What it is, for the documentation.
    package let meaning: String
    /// What a value counts or names, as in `bytes` or `file`; empty where the choices say it all.
    package let unit: String
    /// Whether the value itself is a secret: it is shown nowhere. A path of a secret file is none.
    package let isSecret: Bool
    /// Whether SIGHUP makes a running server take a new value.
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

    /// A property of the configuration, at whatever depth.
    package typealias Property<Value> = WritableKeyPath<Root, Value> & Sendable
    /// The same, of any type.
    package typealias AnyProperty = any PartialKeyPath<Root> & Sendable

    /// A key; without a unit it has the one that its name ends in.
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

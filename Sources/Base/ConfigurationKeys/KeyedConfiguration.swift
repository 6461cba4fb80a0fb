// A type with keys: their list is beside the properties that hold their values.

/// The server's configuration, or a part of it.
package protocol KeyedConfiguration: Sendable {
    /// Creates one with every value at its default.
    init()

    /// The keys, in the order of the documentation.
    static var keys: [ConfigurationKey<Self>] { get }
}

extension KeyedConfiguration {
    /// A key of this configuration.
    package typealias Key = ConfigurationKey<Self>

    /// The keys of a part, as keys of the configuration that has the part as a property.
    package static func keys<Part: KeyedConfiguration>(of part: any Key.Property<Part>) -> [Key] {
        Part.keys.map { key in
            Key(
                key.name, key.standard, key.meaning, unit: key.unit, isSecret: key.isSecret,
                isReloadable: key.isReloadable, set: { key.set($0, &$1[keyPath: part]) },
                problems: key.problems)
        }
    }

    /// The name of the key whose value a property holds, for messages.
    package static func name(of property: PartialKeyPath<Self>) -> String {
        guard
            let key = Self.keys.first(where: {
                $0.property.map { $0 as PartialKeyPath<Self> } == property
            })
        else {
            preconditionFailure("no key has the property \(property)")
        }
        return key.name
    }
}

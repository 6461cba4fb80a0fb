// What of a configuration does not go together, although each value fits its key.

/// Problems of one part of the configuration, by the properties that hold the values. The key's
/// name, and the place where its value was set, come from the property's row.
package struct ConfigurationProblems<Root: KeyedConfiguration> {
    /// In the order of their finding: a key's name, and what follows `KEY is "VALUE", but`.
    package private(set) var found: [(key: String, rule: String)] = []

    /// None yet.
    package init() {}

    /// Takes down that a value breaks a rule that its type does not hold.
    ///
    /// - Parameter rule: follows the value, as in `has to be a file of PEM certificates`.
    package mutating func refuse(_ property: PartialKeyPath<Root>, _ rule: String) {
        self.found.append((Root.name(of: property), rule))
    }

    /// Refuses a text that is set while the one that it needs is empty.
    package mutating func refuse(
        _ property: KeyPath<Root, String>, without other: KeyPath<Root, String>,
        in configuration: Root
    ) {
        if configuration[keyPath: property].isEmpty || !configuration[keyPath: other].isEmpty {
            return
        }
        self.refuse(property, "needs \(Root.name(of: other)) too")
    }
}

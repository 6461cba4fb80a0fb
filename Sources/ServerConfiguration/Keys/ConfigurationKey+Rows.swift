// How the rows of the tables are written: a name, the property that holds the value, its range, its
// meaning. The default is what that property has in a new configuration.

/// A property of the configuration, at whatever depth.
typealias Property<Value> = WritableKeyPath<ServerConfiguration, Value> & Sendable

extension ConfigurationKey {
    private static let standard = ServerConfiguration()

    /// A whole number in a range.
    static func number(
        _ name: String, _ property: any Property<Int>, _ range: ClosedRange<Int>, _ meaning: String,
        unit: String? = nil, isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .number(Self.standard[keyPath: property], range), meaning, unit: unit,
            isReloadable: isReloadable
        ) { text, configuration in
            if let number = Int(text) { configuration[keyPath: property] = number }
        }
    }

    /// A time, in the unit that the name ends in: seconds, or milliseconds.
    static func duration(
        _ name: String, _ property: any Property<Duration>, _ range: ClosedRange<Int>,
        _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        let unit = name.hasSuffix("milliseconds") ? Duration.milliseconds(1) : .seconds(1)
        return Self(
            name, .number(Int(Self.standard[keyPath: property] / unit), range), meaning,
            isReloadable: isReloadable
        ) { text, configuration in
            if let number = Int(text) { configuration[keyPath: property] = unit * number }
        }
    }

    /// True or false.
    static func flag(
        _ name: String, _ property: any Property<Bool>, _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .flag(Self.standard[keyPath: property]), meaning, isReloadable: isReloadable
        ) { text, configuration in
            if let flag = Bool(text) { configuration[keyPath: property] = flag }
        }
    }

    /// Text in one line.
    static func text(
        _ name: String, _ property: any Property<String>, _ meaning: String, unit: String? = nil,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .text(Self.standard[keyPath: property]), meaning, unit: unit,
            isReloadable: isReloadable
        ) { text, configuration in
            configuration[keyPath: property] = text
        }
    }

    /// One of an enum's cases, by its raw value.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ property: any Property<Choice>, _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name,
            .choice(
                Self.standard[keyPath: property].rawValue, of: Choice.allCases.map(\.rawValue)),
            meaning, isReloadable: isReloadable
        ) { text, configuration in
            if let choice = Choice(rawValue: text) { configuration[keyPath: property] = choice }
        }
    }
}

// How the rows of the tables are written: a name, the place of the value, its range, its meaning.
// The default is what stands at that place.

/// Where a value stands in a configuration.
typealias Place<Value> = WritableKeyPath<ServerConfiguration, Value> & Sendable

extension ConfigurationKey {
    private static let standard = ServerConfiguration()

    /// A whole number in a range.
    static func number(
        _ name: String, _ place: any Place<Int>, _ range: ClosedRange<Int>, _ meaning: String,
        unit: String? = nil, isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .number(Self.standard[keyPath: place], range), meaning, unit: unit,
            isReloadable: isReloadable
        ) { text, configuration in
            if let number = Int(text) { configuration[keyPath: place] = number }
        }
    }

    /// A time, in the unit that the name ends in: seconds, or milliseconds.
    static func duration(
        _ name: String, _ place: any Place<Duration>, _ range: ClosedRange<Int>, _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        let unit = name.hasSuffix("milliseconds") ? Duration.milliseconds(1) : .seconds(1)
        return Self(
            name, .number(Int(Self.standard[keyPath: place] / unit), range), meaning,
            isReloadable: isReloadable
        ) { text, configuration in
            if let number = Int(text) { configuration[keyPath: place] = unit * number }
        }
    }

    /// True or false.
    static func flag(
        _ name: String, _ place: any Place<Bool>, _ meaning: String, isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .flag(Self.standard[keyPath: place]), meaning, isReloadable: isReloadable
        ) { text, configuration in
            if let flag = Bool(text) { configuration[keyPath: place] = flag }
        }
    }

    /// Text in one line.
    static func text(
        _ name: String, _ place: any Place<String>, _ meaning: String, unit: String? = nil,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name, .text(Self.standard[keyPath: place]), meaning, unit: unit,
            isReloadable: isReloadable
        ) { text, configuration in
            configuration[keyPath: place] = text
        }
    }

    /// One of an enum's cases, by its raw value.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ place: any Place<Choice>, _ meaning: String, isReloadable: Bool = false
    ) -> Self {
        Self(
            name,
            .choice(
                Self.standard[keyPath: place].rawValue, of: Choice.allCases.map(\.rawValue)),
            meaning, isReloadable: isReloadable
        ) { text, configuration in
            if let choice = Choice(rawValue: text) { configuration[keyPath: place] = choice }
        }
    }
}

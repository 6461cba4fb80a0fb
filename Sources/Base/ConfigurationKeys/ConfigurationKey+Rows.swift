// Creates the rows of a list of keys: a name, the property that holds the value, its range, its
// meaning. The default is that property's value in a new configuration.

extension ConfigurationKey {
    /// A whole number in a range; one of bytes or of a time may have a unit.
    package static func number(
        _ name: String, _ property: any Property<Int>, _ range: ClosedRange<Int>, _ meaning: String,
        unit: String? = nil, isReloadable: Bool = false
    ) -> Self {
        let standard = StandardValue.number(Root()[keyPath: property], range)
        let unit = unit ?? standard.unit(ofKey: name)
        return Self(
            name, of: property, standard, meaning, unit: unit, isReloadable: isReloadable
        ) { text, configuration in
            if let number = Amount.value(of: text, in: unit) {
                configuration[keyPath: property] = number
            }
        }
    }

    /// A time, in the unit at the end of the name: seconds, or milliseconds.
    package static func duration(
        _ name: String, _ property: any Property<Duration>, _ range: ClosedRange<Int>,
        _ meaning: String, isReloadable: Bool = false
    ) -> Self {
        let isShort = name.hasSuffix("milliseconds")
        let (unit, word) =
            isShort ? (Duration.milliseconds(1), "milliseconds") : (Duration.seconds(1), "seconds")
        return Self(
            name, of: property, .number(Int(Root()[keyPath: property] / unit), range), meaning,
            isReloadable: isReloadable
        ) { text, configuration in
            if let number = Amount.value(of: text, in: word) {
                configuration[keyPath: property] = unit * number
            }
        }
    }

    /// True or false.
    package static func flag(
        _ name: String, _ property: any Property<Bool>, _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name, of: property, .flag(Root()[keyPath: property]), meaning,
            isReloadable: isReloadable
        ) { text, configuration in
            if let flag = Bool(text) { configuration[keyPath: property] = flag }
        }
    }

    /// A single line of text.
    ///
    /// - Parameter problem: what is wrong with a text, after the words `KEY is "VALUE", but`.
    package static func text(
        _ name: String, _ property: any Property<String>, _ meaning: String, unit: String? = nil,
        isSecret: Bool = false, isReloadable: Bool = false,
        problem: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> Self {
        Self(
            name, of: property, .text(Root()[keyPath: property]), meaning, unit: unit,
            isSecret: isSecret, isReloadable: isReloadable
        ) { text, configuration in
            configuration[keyPath: property] = text
        } problems: { text in
            problem(text).map { [$0] } ?? []
        }
    }

    /// Text that stands for something else, as for a list.
    ///
    /// - Parameters:
    ///   - standard: the text of the property's default.
    ///   - rule: what is wrong with a text that stands for nothing, after the words
    ///     `KEY is "VALUE", but`.
    ///   - value: what a text stands for; nil: nothing.
    package static func parsed<Value>(
        _ name: String, _ property: any Property<Value>, _ meaning: String, standard: String = "",
        unit: String? = nil, isSecret: Bool = false, rule: String,
        _ value: @escaping @Sendable (String) -> Value?
    ) -> Self {
        Self(
            name, of: property, .text(standard), meaning, unit: unit, isSecret: isSecret
        ) { text, configuration in
            if let value = value(text) { configuration[keyPath: property] = value }
        } problems: { text in
            value(text) == nil ? [rule] : []
        }
    }

    /// One of an enum's cases, by its raw value.
    package static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ property: any Property<Choice>, _ meaning: String,
        isReloadable: Bool = false
    ) -> Self {
        Self(
            name, of: property,
            .choice(Root()[keyPath: property].rawValue, of: Choice.allCases.map(\.rawValue)),
            meaning, isReloadable: isReloadable
        ) { text, configuration in
            if let choice = Choice(rawValue: text) { configuration[keyPath: property] = choice }
        }
    }
}

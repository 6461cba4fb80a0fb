internal import ArgumentParser
internal import ConfigurationKeys

/// Options that take a time, as keys do: a number alone has the option's own unit.
enum AmountOption {
    /// Seconds: `90`, `90s`, `15m`.
    static func seconds(_ text: String) throws -> Int { try Self.value(text, "seconds") }

    /// Days: `30`, `30d`.
    static func days(_ text: String) throws -> Int { try Self.value(text, "days") }

    /// Seconds with a fraction: `0.5`, `500ms`.
    static func fractionalSeconds(_ text: String) throws -> Double {
        if let seconds = Double(text) { return seconds }
        guard let milliseconds = Amount.value(of: text, in: "milliseconds") else {
            throw ValidationError("it has to be a number of seconds, or as 500ms, 5s.")
        }
        return Double(milliseconds) / 1000
    }

    private static func value(_ text: String, _ unit: String) throws -> Int {
        guard let value = Amount.value(of: text, in: unit) else {
            throw ValidationError(
                "it has to be a whole number of \(unit)\(Amount.examples(in: unit)).")
        }
        return value
    }
}

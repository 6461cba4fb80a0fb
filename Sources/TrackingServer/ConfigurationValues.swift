// Reads typed values, and takes down what is wrong with them. swift-configuration's typed getters
// pass over a value of the wrong type, so every value is read as text.
internal import Configuration

/// Values by key, with the problems found on the way.
struct ConfigurationValues {
    private let reader: ConfigReader
    private(set) var problems: [String]

    /// Values of a reader, after the problems that its sources have already.
    init(_ reader: ConfigReader, problems: [String]) {
        self.reader = reader
        self.problems = problems
    }

    mutating func text(_ name: String) -> String {
        switch self.key(name).standard {
        case .text(let standard): return self.stored(name) ?? standard
        case .choice(let standard, let choices):
            let value = self.stored(name) ?? standard
            if !choices.contains(value) {
                let list = choices.joined(separator: ", ")
                self.problems.append("\(name) is \"\(value)\", but has to be one of: \(list)")
            }
            return value
        case .number, .flag: preconditionFailure("\(name) is no text")
        }
    }

    mutating func number(_ name: String) -> Int {
        guard case .number(let standard, let range) = self.key(name).standard else {
            preconditionFailure("\(name) is no number")
        }
        guard let text = self.stored(name) else { return standard }
        guard let value = Int(text), range.contains(value) else {
            self.problems.append(
                "\(name) is \"\(text)\", but has to be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound) (\(self.key(name).meaning))")
            return standard
        }
        return value
    }

    mutating func flag(_ name: String) -> Bool {
        guard case .flag(let standard) = self.key(name).standard else {
            preconditionFailure("\(name) is no flag")
        }
        guard let text = self.stored(name) else { return standard }
        guard let value = Bool(text) else {
            self.problems.append("\(name) is \"\(text)\", but has to be true or false")
            return standard
        }
        return value
    }

    mutating func address(_ name: String, _ value: String) -> (host: String, port: Int) {
        let colon = value.lastIndex(of: ":") ?? value.startIndex
        let port = Int(value[colon...].dropFirst())
        var host = value[..<colon]
        // An IPv6 address stands in brackets: its own colons would hide where the port begins.
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]") && host.contains(":")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let port, (0...65535).contains(port), !host.isEmpty,
            !host.contains(where: "[]".contains), isBracketed || !host.contains(":")
        else {
            self.problems.append(
                "\(name) is \"\(value)\", but has to be HOST:PORT, as in 127.0.0.1:50051 or "
                    + "[::1]:50051")
            return ("127.0.0.1", 0)
        }
        return (String(host), port)
    }

    private func key(_ name: String) -> ConfigurationKey {
        guard let key = ConfigurationKey.all.first(where: { $0.name == name }) else {
            preconditionFailure("\(name) is missing in ConfigurationKey.all")
        }
        return key
    }

    /// The value as text; nil where nobody set it.
    private func stored(_ name: String) -> String? { self.reader.string(forKey: ConfigKey(name)) }
}

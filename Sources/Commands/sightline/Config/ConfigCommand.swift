// `sightline config print`: prints each key's value, and where it comes from.
internal import ArgumentParser
internal import ConfigurationKeys
internal import ServerConfiguration
internal import TrackingReport
internal import WireFormat

/// The parent of the configuration commands.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the configuration.",
        subcommands: [ConfigPrintCommand.self])
}

/// Prints every key with its value and source.
struct ConfigPrintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Show every key, its value, and where that was set.",
        discussion: """
            Secrets are hidden. Exit 0; 78 if the configuration is wrong, after showing it: then \
            the problems are on standard error.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Flag(help: "Print one line of JSON per key.")
    var json = false

    @Flag(help: "Print docs/configuration.md: all keys, and no values.")
    var markdown = false

    /// A key as printed with --json.
    private struct Line: Encodable {
        let key: String
        let value: String
        let origin: String
        let `default`: String
        let unit: String
        let meaning: String
        let variable: String
        let isReloadable: Bool
        let isSecret: Bool
        let minimum: Int?
        let maximum: Int?
        let choices: [String]?
    }

    func validate() throws {
        if self.json, self.markdown {
            throw ValidationError("choose one of --json and --markdown.")
        }
    }

    func run() throws {
        guard !self.markdown else {
            Console.write(ConfigurationDocument.text, to: 1)
            return
        }
        let loaded = self.flags.source(file: self.config).load()
        if self.json {
            for setting in loaded.settings { try Console.json(Self.line(setting)) }
        } else {
            Self.printTable(loaded.settings)
        }
        guard case .failure(let error) = loaded.result else { return }
        for problem in error.problems { Console.error(problem.printable) }
        throw ExitCode.configuration
    }

    private static func line(_ setting: ConfigurationSetting) -> Line {
        let key = setting.key
        var range: ClosedRange<Int>?
        var choices: [String]?
        switch key.standard {
        case .number(_, let numbers): range = numbers
        case .choice(_, let names): choices = names
        case .flag: choices = ["false", "true"]
        case .text: break
        }
        return Line(
            key: key.name, value: setting.shownText, origin: "\(setting.origin)",
            default: key.isSecret ? "" : key.standardText, unit: key.unit, meaning: key.meaning,
            variable: key.environmentVariable, isReloadable: key.isReloadable,
            isSecret: key.isSecret, minimum: range?.lowerBound, maximum: range?.upperBound,
            choices: choices)
    }

    private static func printTable(_ settings: [ConfigurationSetting]) {
        let rows = settings.map { setting in
            let unit = setting.key.unit.isEmpty ? "" : " (\(setting.key.unit))"
            return [
                setting.key.name, setting.shownText.printable, "\(setting.origin)".printable,
                setting.key.meaning + unit,
            ]
        }
        // Long values do not widen the column.
        let widths = [0, 1, 2].map { column in
            rows.map { $0[column].count }.filter { $0 <= 40 }.max() ?? 0
        }
        for row in rows {
            let cells = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: max(width - text.count, 0))
            }
            Console.out(
                cells.joined(separator: "  ") + "  " + Console.coloured(row[3], .grey))
        }
    }
}

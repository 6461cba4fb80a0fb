// `sightline validate`: checks a configuration without starting the server.
internal import ArgumentParser
internal import ConfigurationKeys
internal import ServerConfiguration
internal import TrackingReport
internal import WireFormat

/// Lists all problems of a configuration.
struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Say everything that is wrong with a configuration.",
        discussion: """
            Looks at the file, the flags and the SIGHTLINE_… variables as `sightline serve` would, \
            and at the files and the directory that they name. Starts nothing and changes nothing.
            Exit 0: a server could start with it. 78: it could not.
            """)

    @Argument(help: "A YAML file of keys and values.")
    var file: String?

    @OptionGroup var flags: ConfigurationFlags

    func run() throws {
        do {
            _ = try self.flags.source(file: self.file).load().checked()
        } catch {
            for problem in error.problems { Console.error(problem.printable) }
            let count = error.problems.count
            Console.error("sightline: \(count) \(count == 1 ? "problem" : "problems")")
            throw ExitCode.configuration
        }
        Console.out("\((self.file ?? "the configuration").printable) is valid")
    }
}

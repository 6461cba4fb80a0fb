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
            and at the files and the directory that they name. Run by another user than the \
            server's, who owns data_dir, it also says which of the files that one could not read. \
            Starts nothing and changes nothing.
            Exit 0: a server could start with it. 78: it could not.
            """)

    @Argument(help: "A YAML file of keys and values.")
    var file: String?

    @OptionGroup var flags: ConfigurationFlags

    func run() throws {
        do throws(ConfigurationError) {
            let loaded = self.flags.source(file: self.file).load()
            let configuration = try loaded.checked()
            let unreadable = loaded.unreadableFiles(of: configuration, from: self.file)
            guard unreadable.isEmpty else { throw ConfigurationError(unreadable) }
        } catch {
            for problem in error.problems { Console.error(problem.printable) }
            let count = error.problems.count
            Console.error("sightline: \(count) \(count == 1 ? "problem" : "problems")")
            throw ExitCode.configuration
        }
        Console.out("\((self.file ?? "the configuration").printable) is valid")
    }
}

internal import ArgumentParser
internal import Telemetry

/// Prints the version, and how the program was built.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version, its commit, compiler and traits.")

    @Flag(help: "Print one line of JSON.")
    var json = false

    func run() throws {
        if self.json {
            try Console.json(Build.program)
        } else {
            Console.out(Build.program.line)
        }
    }
}

internal import ArgumentParser

/// Prints the version.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version.")

    func run() {
        Console.out("sightline \(Version.text)")
    }
}

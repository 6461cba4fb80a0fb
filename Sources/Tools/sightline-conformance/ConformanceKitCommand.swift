internal import ArgumentParser

/// The root command: a judge each of the two contracts that other people's programs keep.
@main
struct ConformanceKitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sightline-conformance",
        abstract: "Try clients of the tracking service, and backends of the grpc sink.",
        discussion: "Without a command it tries a client.",
        subcommands: [ClientCommand.self, BackendCommand.self],
        defaultSubcommand: ClientCommand.self)
}

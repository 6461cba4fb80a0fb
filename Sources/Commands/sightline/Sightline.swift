internal import ArgumentParser
internal import Foundation
internal import Telemetry

/// The root command; each subcommand has a file of its own.
@main
struct Sightline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sightline",
        abstract: "Takes in push and in-app tracking events, judges them, and forwards their hits.",
        discussion: """
            A command whose output cannot be written, as on a full disk, says so and exits with 74.
            """,
        version: Build.program.line,
        subcommands: [
            ServeCommand.self, SendCommand.self, TailCommand.self, TopCommand.self,
            ExplainCommand.self, WhyCommand.self, InspectCommand.self, ReportCommand.self,
            ExportCommand.self, DeliveriesCommand.self,
            ReplayCommand.self, RecoverCommand.self, ForgetCommand.self,
            SinksCommand.self,
            BenchCommand.self,
            ValidateCommand.self, ConfigCommand.self, DevCertsCommand.self,
            KeysCommand.self, HealthCommand.self,
            VersionCommand.self,
        ])

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        if let problem = CommandNames.problem(with: words, of: Self.self) {
            Console.error("sightline: \(problem)")
            Foundation.exit(ExitCode.validationFailure.rawValue)
        }
        do {
            var command = try await Self.asyncParseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Self.end(error)
        }
    }

    /// Ends as argument-parser would, which prints the help, the version and scripts for shells by
    /// itself, and drops what cannot be written.
    private static func end(_ error: any Error) -> Never {
        guard Self.exitCode(for: error) == .success else { Self.exit(withError: error) }
        let text = Self.fullMessage(for: error)
        if !text.isEmpty { Console.out(text) }
        Foundation.exit(ExitCode.success.rawValue)
    }
}

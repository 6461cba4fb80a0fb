internal import ArgumentParser
internal import Foundation
internal import Telemetry

/// The root command; each subcommand has a file of its own.
@main
struct Sightline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sightline",
        abstract: "Takes in push and in-app tracking events, judges them, and forwards their hits.",
        version: Build.program.line,
        subcommands: [
            ServeCommand.self, SendCommand.self, TailCommand.self, TopCommand.self,
            ExplainCommand.self, WhyCommand.self, InspectCommand.self, ReportCommand.self,
            ExportCommand.self,
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
        await self.main(words)
    }
}

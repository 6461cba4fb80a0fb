// `sightline sinks`: lists and controls the sinks of a running server.
internal import AdminProtocol
internal import ArgumentParser
internal import Foundation

/// Lists the sinks of a running server; pauses, resumes and forgets them; tries one without a
/// server.
struct SinksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sinks",
        abstract: "List a running server's sinks; pause, resume, forget or try one.",
        discussion: """
            All but `try` and `sql` ask the server through the Unix socket admin.sock in \
            its data directory, as the server's own user. Exit 0: done. 69: no server answers \
            there, or it has no such sink.
            """,
        subcommands: [
            List.self, Pause.self, Resume.self, Forget.self, SinkProbeCommand.self, SQL.self,
        ],
        defaultSubcommand: List.self)

    /// The server's data directory, whose socket the commands use.
    struct Server: ParsableArguments {
        @Option(help: "The server's data directory.")
        var dataDir: String = Defaults.dataDirectory

        func ask<Answer>(
            _ body: (AdminSocketClient) async throws -> Answer
        ) async throws -> Answer {
            do {
                return try await body(AdminSocketClient(of: self.dataDir))
            } catch {
                throw Console.fail(error, .unavailable)
            }
        }
    }

    /// `sightline sinks`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show each sink's backlog, rate and last error.")

        @OptionGroup var server: Server

        @Flag(help: "Print one line of JSON per sink.")
        var json = false

        func run() async throws {
            let statistics = try await self.server.ask {
                try await $0.get("/stats.json", as: Statistics.self)
            }
            if self.json {
                for sink in statistics.sinks { try Console.json(sink) }
            } else {
                Console.out(SinkTable(statistics).lines.joined(separator: "\n"))
            }
        }
    }

    /// `sightline sinks pause`.
    struct Pause: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop delivery to a sink after the batch that is under way.",
            discussion: """
                The journal keeps what comes: for a required sink until it is full, and clients \
                are told to send again; for another sink up to its max_lag_bytes. A pause ends \
                with `sightline sinks resume`, or with the server.
                """)

        @OptionGroup var server: Server

        @Argument(help: "The sink's name.")
        var name: String

        func run() async throws { try await Change.pause.make(self.name, self.server) }
    }

    /// `sightline sinks resume`.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Go on with delivery to a sink.")

        @OptionGroup var server: Server

        @Argument(help: "The sink's name.")
        var name: String

        func run() async throws { try await Change.resume.make(self.name, self.server) }
    }

    /// `sightline sinks forget`.
    struct Forget: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget where a sink was that is configured no more.",
            discussion: """
                A sink that is taken out of the configuration keeps its place in the journal, so \
                that it goes on from there, with a gap for what has gone since, if it comes back. \
                Forgotten, it begins anew. Its files and dead letters stay.
                """)

        @OptionGroup var server: Server

        @Argument(help: "The sink's name.")
        var name: String

        func run() async throws {
            let outcome = try await self.server.ask {
                try await $0.post(
                    SinksCommand.path(of: self.name, "forget"), as: SinkForgottenAnswer.self)
            }
            Console.out("the sink \(outcome.name) is forgotten")
        }
    }

    private static func path(of name: String, _ operation: String) -> String {
        let segment = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
        return "/sinks/\(segment)/\(operation)"
    }

    private enum Change: String {
        case pause
        case resume

        func make(_ name: String, _ server: Server) async throws {
            let outcome = try await server.ask {
                try await $0.post(
                    SinksCommand.path(of: name, self.rawValue), as: SinkPauseAnswer.self)
            }
            Console.out("the sink \(outcome.name) is \(outcome.isPaused ? "paused" : "running")")
        }
    }
}

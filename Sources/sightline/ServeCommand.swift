// `sightline serve`: the service itself.
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import TrackingJournal
internal import TrackingServer

/// Runs the service until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the service.",
        discussion: """
            Values come from flags, then SIGHTLINE_… variables, then the file, then defaults.
            Exits with 0 after SIGTERM or SIGINT, 69 where the port or the data directory is in use,
            74 where the journal's disk failed, 78 where the configuration is wrong.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @Option(help: "HOST:PORT of the gRPC server; port 0 takes a free one.")
    var listen: String?

    @Option(help: "Directory of the journal and the sink's files.")
    var dataDir: String?

    @Option(help: "Where hits go: sqlite, jsonl, stdout or discard.")
    var sink: String?

    @Flag(help: "Keep everything in a temporary directory, and log at debug.")
    var dev = false

    func run() async throws {
        let configuration: ServerConfiguration
        do {
            configuration = try self.source.configuration()
        } catch {
            throw Self.exit(.configuration, "\(error)")
        }
        defer { if self.dev { Self.remove(configuration.dataDirectory) } }
        let logger = Logger(label: "sightline") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = configuration.logLevel
            return handler
        }
        do {
            let application = try Application(
                configuration: configuration, logger: logger,
                onListening: { address in Self.announce("listening on \(address)") },
                onFailure: { error in Self.fail(error, logger) })
            try await application.run()
        } catch {
            throw Self.exit(
                .unavailable,
                "cannot serve on \(configuration.host):"
                    + "\(configuration.port): \(error)")
        }
    }

    private var source: ConfigurationSource {
        var flags: [String: String] = [:]
        flags["listen"] = self.listen
        flags["data_dir"] = self.dataDir
        flags["sink"] = self.sink
        if self.dev {
            flags["data_dir"] = NSTemporaryDirectory() + "sightline-dev-\(getpid())"
            flags["log.level"] = "debug"
        }
        return ConfigurationSource(
            flags: flags, environment: ProcessInfo.processInfo.environment, file: self.config)
    }

    /// One line on standard output, at once: scripts wait for it.
    private static func announce(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    /// A disk that failed once cannot be trusted to hold what it is told: the process ends here,
    /// with nothing acknowledged that is not on it.
    private static func fail(_ error: JournalError, _ logger: Logger) {
        logger.critical("\(error)")
        Foundation.exit(ExitCode.inputOutput.rawValue)
    }

    private static func exit(_ code: ExitCode, _ message: String) -> ExitCode {
        FileHandle.standardError.write(Data("sightline: \(message)\n".utf8))
        return code
    }

    private static func remove(_ directory: String) {
        // It is temporary: what cannot be removed is the system's to clean.
        try? FileManager.default.removeItem(atPath: directory)
    }
}

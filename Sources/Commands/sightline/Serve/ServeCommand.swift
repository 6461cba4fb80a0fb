// `sightline serve`: runs the service.
internal import AdminServer
internal import ArgumentParser
internal import ConfigurationKeys
internal import Foundation
internal import Logging
internal import ServerConfiguration
internal import Storage
internal import Telemetry
internal import TrackingJournal
internal import TrackingServer

/// Runs the service until SIGTERM or SIGINT.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the service.",
        discussion: """
            Values come from flags, then SIGHTLINE_… variables, then the file, then defaults; \
            SIGHUP reads them again, and docs/configuration.md lists every key. Exits with 0 after \
            SIGTERM or SIGINT, 69 if the port or the data directory is in use or a database cannot \
            be opened, 74 if the journal's disk failed, 78 if the configuration is wrong or a \
            newer build has written the data directory.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Flag(
        help: """
            Keep everything in a temporary directory, log at debug, serve HTTP on \
            \(Defaults.http), and let the live page send test events there.
            """)
    var dev = false

    func run() async throws {
        // SIGHUP must not end the process before the reloader handles it.
        signal(SIGHUP, SIG_IGN)
        Allocator.keepFreedMemory()
        DescriptorLimit.raise()
        let source = self.source
        let loaded = source.load()
        var configuration: ServerConfiguration
        do {
            configuration = try loaded.checked()
        } catch {
            throw Self.exit(.configuration, "\(error)")
        }
        configuration.traces.resource.serviceVersion = Build.program.version
        configuration.isDevelopment = self.dev
        defer { if self.dev { Self.remove(Self.temporaryDirectory) } }
        let level = LogLevel(configuration.logLevel)
        let form = configuration.logFormat.standardErrorForm
        let service = configuration.traces.resource.serviceName
        let logger = Logger(label: "sightline") { label in
            LeveledLogHandler(
                LineLogHandler(label: label, service: service, form: form), level: level)
        }
        for warning in loaded.warnings { logger.warning("\(warning)") }
        let reloader = Reloader(source: source, start: loaded, logger: logger)
        reloader.add(Reloadable("log level") { next in { level.change(to: next.logLevel) } })
        let application = try await self.application(configuration, reloader, logger)
        do {
            try await application.run()
        } catch let error as ListenError {
            throw Self.exit(.unavailable, "\(error)")
        } catch {
            throw Self.exit(
                .unavailable,
                "cannot serve on \(configuration.host):"
                    + "\(configuration.port): \(error)")
        }
    }

    private func application(
        _ configuration: ServerConfiguration, _ reloader: Reloader, _ logger: Logger
    ) async throws -> Application {
        do {
            return try await Application(
                configuration: configuration, build: .program, logger: logger,
                reloader: reloader,
                onAdminListening: { address in Self.announce("admin page on \(address)") },
                onHTTPListening: { address in Self.announce("HTTP on \(address)") },
                onListening: { address in Self.announce("listening on \(address)") },
                onFailure: { error in Self.fail(error, logger) })
        } catch JournalError.unusable(let path, let reason)
            where !path.hasSuffix(".db")
        {
            // The directory itself is unusable, so the configuration is wrong. A database in it
            // that cannot be opened may be locked, which is "unavailable" below.
            throw Self.exit(
                .configuration,
                "data_dir is \"\(configuration.dataDirectory)\", but cannot be used: \(path): "
                    + reason)
        } catch JournalError.format(let error) {
            throw Self.exit(.configuration, "\(error)")
        } catch let error as JournalError {
            throw Self.exit(
                .unavailable, "data_dir is \"\(configuration.dataDirectory)\": \(error)")
        } catch let error as ConfigurationError {
            throw Self.exit(.configuration, "\(error)")
        } catch let error as FileFormatError {
            throw Self.exit(.configuration, "\(error)")
        } catch {
            throw Self.exit(.unavailable, "cannot start: \(error)")
        }
    }

    private static let temporaryDirectory =
        NSTemporaryDirectory() + "sightline-dev-\(getpid())"

    private var source: ConfigurationSource {
        let dev = [
            "data_dir": Self.temporaryDirectory, "log.level": "debug",
            "http.listen": Defaults.http,
        ]
        return self.flags.source(file: self.config, defaults: self.dev ? dev : [:])
    }

    /// Writes a line to standard output, unbuffered: scripts wait for it.
    private static func announce(_ line: String) {
        // The log has the address too; a server does not end because nobody reads.
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Ends the process at once: after a failed sync the disk cannot be trusted, and no request
    /// that may be missing from it has been acknowledged.
    private static func fail(_ error: JournalError, _ logger: Logger) {
        logger.critical("the journal has failed", metadata: ["reason": "\(error)"])
        Foundation.exit(ExitCode.inputOutput.rawValue)
    }

    private static func exit(_ code: ExitCode, _ message: String) -> ExitCode {
        FileHandle.standardError.write(Data("sightline: \(message)\n".utf8))
        return code
    }

    private static func remove(_ directory: String) {
        // Errors are ignored: the system cleans temporary directories.
        try? FileManager.default.removeItem(atPath: directory)
    }
}

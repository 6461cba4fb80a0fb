internal import Foundation
internal import Logging
internal import ServerConfiguration
internal import Telemetry
internal import TrackingServer

/// The server of `sightline serve`, with sinks of your own.
public enum SightlineServer {
    /// Runs a server until SIGTERM or SIGINT.
    ///
    /// Values come from `settings`, then `SIGHTLINE_…` variables, then the file, then defaults.
    /// The key `sinks` may list further sinks; the key `sink` is ignored. Logs go to standard
    /// error; the record `listening` tells the address.
    ///
    /// - Parameters:
    ///   - sinks: at least one, each with a name of its own.
    ///   - configurationFile: the path of a YAML file of keys and values.
    ///   - settings: values by the names of their keys, such as `["listen": "127.0.0.1:50051"]`.
    /// - Throws: an error that says what is wrong with the configuration, or why the server cannot
    ///   start. If the journal's disk fails, the process exits with 74.
    public static func run(
        sinks: [any HitSink], configurationFile: String? = nil, settings: [String: String] = [:]
    ) async throws {
        let source = ConfigurationSource(
            assignments: settings.map { "\($0.key)=\($0.value)" },
            environment: ProcessInfo.processInfo.environment, file: configurationFile)
        let loaded = source.load()
        var configuration = try loaded.checked()
        try configuration.add(ownSinks: sinks.map(\.name))
        let level = LogLevel(configuration.logLevel)
        let form = configuration.logFormat.standardErrorForm
        let service = configuration.traces.resource.serviceName
        let logger = Logger(label: "sightline") { label in
            LeveledLogHandler(
                LineLogHandler(label: label, service: service, form: form), level: level)
        }
        for warning in loaded.warnings { logger.warning("\(warning)") }
        DescriptorLimit.raise()
        let application = try await Application(
            configuration: configuration, build: Build(version: "SightlineSinks"), logger: logger,
            ownSinks: sinks.map(AdaptedSink.init),
            onListening: { _ in },
            onFailure: { error in
                // Nothing that may be missing from the disk has been acknowledged.
                logger.critical("the journal has failed", metadata: ["reason": "\(error)"])
                exit(74)
            })
        try await Self.run(sinks: sinks) { try await application.run() }
    }

    /// Runs a server, and closes the sinks after it, also where it has failed.
    static func run(sinks: [any HitSink], server: () async throws -> Void) async throws {
        do {
            try await server()
        } catch {
            for sink in sinks { await sink.close() }
            throw error
        }
        for sink in sinks { await sink.close() }
    }
}

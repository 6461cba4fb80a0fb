internal import ArgumentParser
internal import Foundation
internal import ServerConfiguration
internal import Storage

/// The options of every command that reads the configuration.
struct ConfigurationFlags: ParsableArguments {
    @Option(help: "HOST:PORT of the gRPC server; port 0 takes a free one.")
    var listen: String?

    @Option(help: "HOST:PORT of the admin server (HTTP), or off.")
    var admin: String?

    @Option(help: "HOST:PORT of the HTTP server for clients without gRPC, or off.")
    var http: String?

    @Option(help: "Directory of the journal and the sink's files.")
    var dataDir: String?

    @Option(help: "Where hits go: \(SinkKind.names.joined(separator: ", ")), or a name to replay.")
    var sink: String?

    @Flag(help: "Listen on the network even without TLS or credentials.")
    var allowInsecure = false

    @Option(
        help: ArgumentHelp(
            "Sets any key, as often as needed: --set limits.request_events=100.",
            valueName: "key=value"))
    var set: [String] = []

    /// The configuration's sources; `defaults` apply to keys that nothing else sets.
    func source(file: String?, defaults: [String: String] = [:]) -> ConfigurationSource {
        let assigned = Set(self.set.map { $0.prefix { $0 != "=" } })
        var flags = defaults.filter { !assigned.contains($0.key[...]) }
        if let listen { flags["listen"] = listen }
        if let admin { flags["admin.listen"] = admin }
        if let http { flags["http.listen"] = http }
        if let dataDir { flags["data_dir"] = dataDir }
        if let sink { flags["sink"] = sink }
        if self.allowInsecure { flags["allow_insecure"] = "true" }
        return ConfigurationSource(
            flags: flags, assignments: self.set,
            environment: ProcessInfo.processInfo.environment, file: file)
    }
}

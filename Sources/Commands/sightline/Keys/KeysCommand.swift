// `sightline keys`: manages the API keys in a server's keys file.
internal import ArgumentParser
internal import ConfigurationKeys
internal import Credentials
internal import Foundation
internal import ServerConfiguration
internal import TrackingReport
internal import WireFormat

/// The parent of the API key commands.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Make, list and revoke API keys.",
        discussion: """
            They work on the file itself, with or without a server, and keep its owner and mode: \
            root may run them. A running server takes the new state at SIGHUP.
            """,
        subcommands: [KeysNewCommand.self, KeysListCommand.self, KeysRevokeCommand.self])
}

/// The option that names the keys file.
struct KeysFileOptions: ParsableArguments {
    @Option(help: "The keys file; else auth.keys_file of the configuration.")
    var keysFile: String?

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    /// The keys file, and the user of the server that reads it if that is another one.
    ///
    /// - Throws: the exit code if none is configured.
    func place() throws -> Place {
        let source = ConfigurationSource(
            flags: self.keysFile.map { ["auth.keys_file": $0] } ?? [:],
            environment: ProcessInfo.processInfo.environment, file: self.config)
        let loaded = source.load()
        let setting = loaded.settings.first { $0.key.name == "auth.keys_file" }
        guard let path = setting?.text, !path.isEmpty else {
            // If the configuration cannot be read, that is the reason, not a missing key.
            if case .failure(let error) = loaded.result {
                throw Console.fail(error, .configuration)
            }
            Console.error("sightline: auth.keys_file is not set: name the file with --keys-file")
            throw ExitCode.configuration
        }
        let directory = loaded.settings.first { $0.key.name == "data_dir" }
        return Place(
            file: KeysFile(path: path),
            reader: directory.flatMap { ServerUser(ofDataDirectory: $0.text) })
    }

    struct Place {
        let file: KeysFile
        let reader: ServerUser?

        /// Says so if the server could not read the file: it would keep the keys that it has.
        func warn() {
            guard let problem = self.reader?.problem(reading: self.file.path) else { return }
            Console.error(
                "sightline: the server could not read \(self.file.path.printable): "
                    + problem.printable)
        }
    }
}

/// Creates a key.
struct KeysNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make an API key, and show it this once.",
        discussion: "The key alone goes to standard output: > key.txt keeps it.")

    @OptionGroup var options: KeysFileOptions

    @Option(help: "Whose key it is: 1 to 64 characters of a-z, 0-9, \".\", \"_\" and \"-\".")
    var tenant: String

    @Option(help: "What to call it, at most 64 characters.")
    var name = ""

    @Option(
        help: "Days until it ends by itself, 1 to 3650; without it it does not.",
        transform: AmountOption.days)
    var expires: Int?

    @Option(help: "What it allows, separated by commas.")
    var scopes = ""

    @Flag(help: "Print one line of JSON with the key and its record.")
    var json = false

    private struct Line: Encodable {
        let key: String
        let id: String
        let tenant: String
        let expires: String?
    }

    func validate() throws {
        guard Tenant(self.tenant) != nil else {
            throw ValidationError("--tenant \"\(self.tenant.printable)\" has to be \(Tenant.rule).")
        }
        guard self.name.utf8.count <= 64 else {
            throw ValidationError("--name has \(self.name.utf8.count) bytes, the limit is 64.")
        }
        if let days = self.expires, !(1...3650).contains(days) {
            throw ValidationError("--expires \(days) is outside 1 to 3650.")
        }
        guard self.scopes.utf8.count <= 1024 else {
            throw ValidationError("--scopes has over 1024 bytes.")
        }
        guard self.scopeNames.allSatisfy({ !$0.isEmpty && !$0.contains(where: \.isWhitespace) })
        else {
            throw ValidationError(
                "--scopes \"\(self.scopes.printable)\" has to be words with commas between them, "
                    + "such as tap,unmask.")
        }
    }

    /// The scopes without surrounding spaces.
    private var scopeNames: [String] {
        if self.scopes.isEmpty { return [] }
        return self.scopes.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }

    func run() throws {
        guard let tenant = Tenant(self.tenant) else { return }
        let place = try self.options.place()
        let file = place.file
        let key = APIKey()
        let now = Date()
        let record = KeyRecord(
            key, tenant: tenant, name: self.name,
            scopes: self.scopeNames, created: now,
            expires: self.expires.map { now.addingTimeInterval(Double($0) * 86_400) })
        do {
            // Stored before it is shown, so that every key that was shown works.
            try file.update { $0.append(record) }
        } catch {
            throw Console.fail(error, .inputOutput)
        }
        place.warn()
        if self.json {
            try Console.json(
                Line(
                    key: key.text, id: key.id, tenant: tenant.name,
                    expires: record.expires?.formatted(.iso8601)))
            return
        }
        Console.out(key.text)
        Console.error(
            "id \(key.id), tenant \(tenant): the key is not shown again, and \(file.path) holds "
                + "only its hash")
    }
}

/// Lists the keys without their secrets.
struct KeysListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the API keys, without their secrets.")

    @OptionGroup var options: KeysFileOptions

    @Flag(help: "Print one line of JSON per key.")
    var json = false

    private struct Line: Encodable {
        let id: String
        let tenant: String
        let name: String
        let scopes: [String]
        let state: String
        let created: String
        let expires: String?
        let revoked: String?

        init(_ record: KeyRecord, now: Date) {
            self.id = record.id
            self.tenant = record.tenant
            self.name = record.name
            self.scopes = record.scopes
            let isOver = record.expires.map { $0 <= now } ?? false
            self.state = record.revoked != nil ? "revoked" : isOver ? "expired" : "active"
            self.created = record.created.formatted(.iso8601)
            self.expires = record.expires?.formatted(.iso8601)
            self.revoked = record.revoked?.formatted(.iso8601)
        }
    }

    func run() throws {
        let place = try self.options.place()
        let file = place.file
        let now = Date()
        let lines: [Line]
        do {
            lines = try file.records().map { Line($0, now: now) }
        } catch {
            throw Console.fail(error, .inputOutput)
        }
        place.warn()
        guard !self.json else {
            for line in lines { try Console.json(line) }
            return
        }
        var table = TextTable([
            ("id", .left), ("state", .left), ("tenant", .left), ("expires", .left),
            ("scopes", .left), ("name", .left),
        ])
        for line in lines {
            table.add([
                line.id, line.state, line.tenant, line.expires ?? "never",
                line.scopes.joined(separator: ","), line.name,
            ])
        }
        for line in table.lines() { Console.out(line) }
    }
}

/// Revokes a key.
struct KeysRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an API key permanently.",
        discussion: """
            A running server refuses new calls with it after SIGHUP. Open streams go on until \
            connections.max_age_seconds, or a restart, ends them. Exit 1: there is no such key.
            """)

    @OptionGroup var options: KeysFileOptions

    @Argument(help: "The key's id, as `sightline keys list` shows it.")
    var id: String

    func run() throws {
        let place = try self.options.place()
        let file = place.file
        let isKnown: Bool
        do {
            // Fails if the file is missing: `update` would create it.
            _ = try file.records()
            isKnown = try file.update { records in
                guard let index = records.firstIndex(where: { $0.id == self.id }) else {
                    return false
                }
                let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
                // Revoking a key again keeps the first time.
                records[index].revoked = records[index].revoked ?? time
                return true
            }
        } catch {
            throw Console.fail(error, .inputOutput)
        }
        place.warn()
        guard isKnown else {
            Console.error(
                "sightline: \(file.path.printable) has no key \(self.id.printable): see "
                    + "`sightline keys list`")
            throw ExitCode.failure
        }
    }
}

// `sightline tail`: prints the newest rows, newest last, or verdicts as a server gives them.
internal import ArgumentParser
internal import Foundation
internal import GRDB
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf

/// Prints the last hits, or with --rejected the dead letters; --follow waits for further ones. With
/// --target it prints the verdicts of a running server.
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show what has come in, newest last.",
        discussion: """
            With --follow and --target it shows the verdicts on all events as the server gives \
            them, those of rejected and suppressed events too: at HOST:PORT those of the tenant \
            whose key or token has the scope "tap", at unix:PATH, the admin.sock in the server's \
            data directory, those of all tenants. Ids, custom fields and payloads are shown with \
            --unmasked alone, which needs the scope "unmask" beside "tap".

            Exit 0: shown. 1: the server refused. 66: a file is missing. 69: there is no database \
            to read, or no server, or it has stopped. 78: a newer build has written the database.
            """)

    private static let pollInterval: Duration = .milliseconds(500)
    /// The maximum rows per read while following.
    private static let pieceRowCount = 1000

    @Option(help: "The server's data directory.")
    var dataDir: String = Defaults.dataDirectory

    @Option(name: .shortAndLong, help: "How many of the last rows to show, 0 to 100000.")
    var lines: Int = 20

    @Flag(name: .shortAndLong, help: "Go on with rows that come in, until interrupted.")
    var follow = false

    @Flag(help: "Show the hits that the sink rejected permanently, from dead_letters.db.")
    var rejected = false

    @Flag(help: "Print one line of JSON per row.")
    var json = false

    @Option(help: "Show verdicts of the running server at HOST:PORT or unix:PATH.")
    var target: String?

    @OptionGroup(title: "Verdicts") var tap: TapOptions

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    /// The path in a --target of the form unix:PATH; nil for any other.
    private var socketPath: String? {
        guard let target, target.hasPrefix("unix:") else { return nil }
        return String(target.dropFirst("unix:".count))
    }

    func validate() throws {
        guard (0...100_000).contains(self.lines) else {
            throw ValidationError("--lines \(self.lines) is outside 0 to 100000.")
        }
        guard self.target != nil else {
            if self.tap.isSet { throw ValidationError("the filters need --target.") }
            return
        }
        guard self.follow, !self.rejected else {
            throw ValidationError(
                "--target goes with --follow and without --rejected: a server shows what comes in "
                    + "from now on; --verdict rejected shows rejected events.")
        }
        guard self.tap.tenant == nil || self.socketPath != nil else {
            throw ValidationError("--tenant needs a unix: target: a key shows its own tenant.")
        }
    }

    func run() async throws {
        do {
            if let target {
                try await self.showVerdicts(of: target)
            } else if self.rejected {
                try await self.show(DeadLetterRow.self)
            } else {
                try await self.show(HitRow.self)
            }
        } catch AdminSocketError.refused(let reason) {
            throw Console.fail(AdminSocketError.refused(reason), .failure)
        } catch let error where error is DatabaseError || error is RowDecodingError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        } catch {
            throw Console.fail(client: error)
        }
    }

    private func showVerdicts(of target: String) async throws {
        let printer = TapPrinter(json: self.json)
        guard let path = self.socketPath else {
            let client = TrackingClient(
                // A tap is endless, so this timeout does not apply.
                address: try ServerAddress(target), timeout: Self.pollInterval,
                security: try self.security.security(),
                credential: try self.credentials.credential())
            return try await client.tap(self.tap.request) { try printer.show($0) }
        }
        try await AdminSocketClient(path: path).lines(of: "/tap", self.tap.query) { line in
            try printer.show(try Sightline_V1_TapResponse(jsonString: line))
        }
        throw AdminSocketError.unreachable(path, "the server has stopped")
    }

    private func show<Tailed: TailedRow>(_ type: Tailed.Type) async throws {
        let database = try DatabaseFile.open(
            type.fileName, in: self.dataDir, formatVersion: type.formatVersion)
        let lines = self.lines
        let rows = try await database.read { database in
            try Tailed.last(lines, in: database)
        }
        var lastID = rows.last?.id ?? 0
        // No rows are shown: following begins after the newest one.
        if lines == 0 {
            lastID = try await database.read { try Tailed.last(1, in: $0) }.last?.id ?? 0
        }
        try self.print(rows, heading: true)
        while self.follow {
            let after = lastID
            let news = try await database.read { database in
                try Tailed.rows(after: after, limit: Self.pieceRowCount, in: database)
            }
            try self.print(news, heading: false)
            lastID = news.last?.id ?? lastID
            // A full read may have left rows behind: read on at once.
            if news.count < Self.pieceRowCount {
                try await Task.sleep(for: Self.pollInterval)
            }
        }
    }

    private func print<Tailed: TailedRow>(_ rows: [Tailed], heading: Bool) throws {
        if self.json {
            for row in rows {
                try Console.json(row)
            }
            return
        }
        for line in Tailed.table(rows, heading: heading) {
            Console.out(line)
        }
        if rows.isEmpty, heading, !self.follow, self.lines > 0 {
            Console.error(self.rejected ? "nothing was rejected" : "nothing has come in yet")
        }
    }
}

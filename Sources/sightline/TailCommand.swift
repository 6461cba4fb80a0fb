// `sightline tail`: prints the newest rows, newest last.
internal import ArgumentParser
internal import GRDB
internal import TrackingSinks

/// Prints the last hits, or with --rejected the dead letters; --follow waits for further ones.
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show what has come in, newest last.",
        discussion: """
            Exit 0: shown. 69: there is no database to read. 78: a newer build has written it.
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

    func validate() throws {
        guard (0...100_000).contains(self.lines) else {
            throw ValidationError("--lines \(self.lines) is outside 0 to 100000.")
        }
    }

    func run() async throws {
        do {
            if self.rejected {
                try await self.show(DeadLetterRow.self)
            } else {
                try await self.show(HitRow.self)
            }
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch let error as DatabaseFileError {
            throw Console.fail(error, .unavailable)
        } catch let error as DatabaseError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        }
    }

    private func show<Tailed: TailedRow>(_ type: Tailed.Type) async throws {
        let database = try DatabaseFile.open(
            type.fileName, in: self.dataDir, formatVersion: type.formatVersion)
        let lines = self.lines
        let rows = try await database.read { database in
            try Tailed.last(lines, in: database)
        }
        var lastID = rows.last?.id ?? 0
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

// `sightline replay`: delivers dead letters again.
internal import ArgumentParser
internal import ConfigurationKeys
internal import Delivery
internal import Foundation
internal import GRDB
internal import ServerConfiguration
internal import Storage
internal import TrackingJournal
internal import TrackingReport
internal import TrackingServer
internal import WireFormat

/// Delivers dead letters again, and deletes those that the sink stores.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Deliver dead letters, what is kept since some time, or files of lines again.",
        discussion: """
            For when what made the sink refuse them has been mended; `tail --rejected` shows them \
            with their reasons. What the sink takes is forgotten, what it refuses again stays with \
            its new reason. A running server does it itself, and is asked through admin.sock in \
            its data directory. With --since it delivers to --sink what the hits.db of another \
            sink has since then (of one without a filter), and the rest from the journal: a sink \
            that knows hits by their id has each once, another twice. With --from FILES a running \
            server reads them, files of a sink jsonl, plain or compressed, and delivers their hits.
            Exit 0: the sink has them all. 1: it has refused some, or lines are no hits. 66: \
            nothing is kept since then, or a file is missing or has no hit. 69: there is no \
            dead_letters.db, the sink takes nothing now, or --since or FILES find no running \
            server. 78: the configuration is wrong, --sink has to say which sink, or a newer build \
            has written the letters.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Option(
        parsing: .upToNextOption,
        help: "The sink that rejected them, if it is not the one that gets them; or files.")
    var from: [String] = []

    @Option(help: "Deliver what was received since then, as in 2h or 2026-11-01T08:00:00Z.")
    var since: String?

    @Option(help: "Deliver at most so many, the oldest first, 1 to 100000000.")
    var limit: Int?

    @Flag(help: "Only count the dead letters of each sink, or of --from.")
    var dryRun = false

    @Flag(help: "Print one line of JSON; with --dry-run one per sink.")
    var json = false

    /// The result as printed with --json.
    private struct Summary: Encodable {
        let refusedBy: String
        let sink: String
        let letters: Int
        let delivered: Int
        let refused: Int
        let unreadable: Int
    }

    /// What a dry run counts, as printed with --json.
    private struct Kept: Encodable {
        let refusedBy: String
        let letters: Int
    }

    func validate() throws {
        if let limit, !(1...100_000_000).contains(limit) {
            throw ValidationError("--limit \(limit) is outside 1 to 100000000.")
        }
        guard self.from.count <= 1 || self.files.count == self.from.count else {
            throw ValidationError("--from takes the name of one sink, or files such as ./a.jsonl.")
        }
        if !self.files.isEmpty, self.limit != nil || self.dryRun {
            throw ValidationError("--from FILES takes neither --limit nor --dry-run.")
        }
        guard let since else { return }
        if !self.from.isEmpty || self.limit != nil || self.dryRun {
            throw ValidationError("--since takes neither --from, --limit nor --dry-run.")
        }
        _ = try TimeOption.time(since, of: "--since")
    }

    /// Files to deliver: no sink's name has a dot or a slash.
    private var files: [String] { self.from.filter { $0.contains { "./".contains($0) } } }

    /// The sink whose letters are delivered, if it is named.
    private var refuser: String? { self.files.isEmpty ? self.from.first : nil }

    func run() async throws {
        do {
            let configuration = try self.configuration()
            if !self.files.isEmpty {
                try await self.replayFiles(configuration)
            } else if let since {
                try await self.replayHits(since: since, configuration)
            } else if self.dryRun {
                try await self.count(configuration)
            } else {
                try await self.replayLetters(configuration)
            }
        } catch let exit as ExitCode {
            throw exit
        } catch let error as ConfigurationError {
            throw Console.fail(error, .configuration)
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch {
            throw Console.fail(error, .unavailable)
        }
    }

    /// The server's configuration. `--sink` is left out: here it names one of the server's sinks,
    /// and does not replace their list.
    private func configuration() throws -> ServerConfiguration {
        var flags = self.flags
        flags.sink = nil
        return try flags.source(file: self.config).load().checked()
    }

    // MARK: Kept hits

    private func replayHits(since: String, _ configuration: ServerConfiguration) async throws {
        let client = try AdminSocketClient(of: configuration.dataDirectory)
        let name = try self.target(configuration).name
        let time = try TimeOption.time(since, of: "--since")
        let counts = try await client.post(
            "/sinks/\(name)/replay", [("since", "\(time)")], as: HitReplay.Counts.self)
        try self.show(
            counts, of: name,
            nothing: "nothing is kept since \(ReportTime.utc(time)): the hits.db of another sink "
                + "has no hit of then, nor has the journal, which keeps what all sinks have for "
                + "journal.retain_seconds")
    }

    private func replayFiles(_ configuration: ServerConfiguration) async throws {
        let paths = self.files.map {
            URL(filePath: $0).standardizedFileURL.path(percentEncoded: false)
        }
        for path in paths where !FileManager.default.fileExists(atPath: path) {
            Console.error("sightline: there is no file \(path.printable)")
            throw ExitCode.noInput
        }
        let client = try AdminSocketClient(of: configuration.dataDirectory)
        let name = try self.target(configuration).name
        var counts = HitReplay.Counts()
        for (index, path) in paths.enumerated() {
            do {
                counts += try await client.post(
                    "/sinks/\(name)/replay", [("file", path)], as: HitReplay.Counts.self)
            } catch {
                // What the sink has of the files before it keeps.
                if index > 0 {
                    try self.print(counts, of: name)
                    Console.error(
                        "sightline: \(index) of \(paths.count) files were delivered; "
                            + "\(path.printable) was not, or only its beginning")
                }
                throw error
            }
        }
        try self.show(counts, of: name, nothing: "the files have no hit")
    }

    /// - Parameter nothing: what it means that there was none.
    private func show(_ counts: HitReplay.Counts, of name: String, nothing: String) throws {
        try self.print(counts, of: name)
        guard !counts.isEmpty else {
            Console.error("sightline: \(nothing)")
            throw ExitCode.noInput
        }
        if counts.refused > 0 { throw ExitCode.failure }
    }

    private func print(_ counts: HitReplay.Counts, of name: String) throws {
        guard !self.json else { return try Console.json(counts) }
        Console.out("\(counts.delivered) hits delivered to the sink \(name) once more")
        if counts.refused > 0 { Console.out("\(counts.refused) refused") }
        if counts.filtered > 0 { Console.out("\(counts.filtered) not passed by its filter") }
    }

    // MARK: Dead letters

    /// Fails if the file is missing; `DeadLetters` would create it.
    private func letters(_ configuration: ServerConfiguration) throws -> DatabaseQueue {
        try DatabaseFile.open(
            DeadLetterRow.fileName, in: configuration.dataDirectory,
            formatVersion: DeadLetterRow.formatVersion)
    }

    /// Counts the letters of each sink; of one if one is named.
    private func count(_ configuration: ServerConfiguration) async throws {
        let all = try await self.letters(configuration).read { try DeadLetters.counts(in: $0) }
        let named = self.refuser ?? self.flags.sink
        let counts = all.filter { named == nil || $0.sink == named }
        for (sink, letters) in counts {
            if self.json {
                try Console.json(Kept(refusedBy: sink, letters: letters))
            } else {
                Console.out("\(letters) dead letters of the sink \(sink)")
            }
        }
        if counts.isEmpty, !self.json {
            Console.out(named.map { "no dead letters of the sink \($0)" } ?? "no dead letters")
        }
    }

    private func replayLetters(_ configuration: ServerConfiguration) async throws {
        let target = try self.target(configuration)
        let refuser = self.refuser ?? target.name
        let kept = try await self.letters(configuration).read { try DeadLetters.counts(in: $0) }
        let count = kept.first { $0.sink == refuser }?.letters ?? 0
        var counts = Replay.Counts()
        if count > 0 {
            if let done = try await self.replayRunning(refuser, to: target.name, configuration) {
                counts = done
            } else {
                counts = try await self.replayStopped(refuser, to: target, configuration)
            }
        }
        try self.show(
            Summary(
                refusedBy: refuser, sink: target.name, letters: count,
                delivered: counts.delivered, refused: counts.refused, unreadable: counts.unreadable)
        )
        for (sink, letters) in kept where sink != refuser {
            Console.error(
                "sightline: \(letters) dead letters of the sink \(sink) are kept as well: see "
                    + "--from \(sink)")
        }
        if counts.delivered < count { throw ExitCode.failure }
    }

    /// Asks the running server; nil if none runs.
    private func replayRunning(
        _ refuser: String, to sink: String, _ configuration: ServerConfiguration
    ) async throws -> Replay.Counts? {
        guard let client = AdminSocketClient(dataDirectory: configuration.dataDirectory) else {
            return nil
        }
        do {
            return try await client.post(
                "/sinks/\(sink)/replay",
                [("from", refuser), ("limit", self.limit.map { "\($0)" })],
                as: Replay.Counts.self)
        } catch AdminSocketError.unreachable {
            // A process that was killed leaves its socket.
            return nil
        }
    }

    /// Delivers from this process. It holds the directory's lock to the end, because a sink's files
    /// may have only one writer.
    private func replayStopped(
        _ refuser: String, to target: ListedSink, _ configuration: ServerConfiguration
    ) async throws -> Replay.Counts {
        let directory = configuration.dataDirectory
        let lock = try DirectoryLock(directory: directory)
        defer { withExtendedLifetime(lock) {} }
        let letters = try DeadLetters(
            path: directory + "/" + DeadLetterRow.fileName, maxRows: configuration.maxDeadLetters)
        let sink = try SinkFactory(configuration).open(target).sink
        return try await Replay(of: letters, refusedBy: refuser, to: sink)
            .run(limit: self.limit ?? .max)
    }

    /// The sink to deliver to: the one that `--sink` names; else the only one, or the one that
    /// refused the letters.
    private func target(
        _ configuration: ServerConfiguration
    ) throws -> ListedSink {
        let sinks = configuration.sinks
        if let name = self.flags.sink {
            if let sink = sinks.first(where: { $0.name == name }) { return sink }
            // A type that is not in the list of sinks may be named as well.
            if let kind = SinkKind(rawValue: name) { return ListedSink(kind) }
        } else if sinks.count == 1 {
            return sinks[0]
        } else if let sink = sinks.first(where: { $0.name == self.refuser }) {
            return sink
        }
        let names = sinks.map(\.name).joined(separator: ", ")
        throw ConfigurationError(["say by --sink which sink gets them, one of \(names)"])
    }

    private func show(_ summary: Summary) throws {
        guard !self.json else { return try Console.json(summary) }
        Console.out("\(summary.letters) dead letters of the sink \(summary.refusedBy)")
        Console.out("\(summary.delivered) delivered to the sink \(summary.sink)")
        if summary.refused > 0 { Console.out("\(summary.refused) refused again, and kept") }
        if summary.unreadable > 0 {
            Console.out(
                "\(summary.unreadable) hold no hit (damaged or missed batches), and are kept")
        }
    }
}

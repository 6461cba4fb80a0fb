// `sightline replay`: delivers dead letters again.
internal import ArgumentParser
internal import Foundation
internal import GRDB
internal import ServerConfiguration
internal import TrackingCore
internal import TrackingJournal
internal import TrackingServer
internal import TrackingSinks

/// Delivers dead letters again, and deletes those that the sink stores.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Deliver the dead letters once more.",
        discussion: """
            For when what made the sink refuse them has been mended; `tail --rejected` shows them \
            with their reasons. What the sink takes is forgotten, what it refuses again stays with \
            its new reason. The server of the same data directory has to be stopped meanwhile.
            Exit 0: the sink has them all. 1: some are left. 69: the server is running, there are \
            no dead letters, or the sink takes nothing now. 78: the configuration is wrong, \
            or a newer build has written the letters.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Option(help: "The sink that rejected them, if it is not the configured one.")
    var from: String?

    @Option(help: "Deliver at most so many, the oldest first, 1 to 100000000.")
    var limit: Int?

    @Flag(help: "Only count them.")
    var dryRun = false

    @Flag(help: "Print one line of JSON.")
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

    func validate() throws {
        guard let limit, !(1...100_000_000).contains(limit) else { return }
        throw ValidationError("--limit \(limit) is outside 1 to 100000000.")
    }

    func run() async throws {
        let configuration: ServerConfiguration
        do {
            configuration = try self.flags.source(file: self.config).load().checked()
        } catch {
            throw Console.fail(error, .configuration)
        }
        do {
            try await self.replay(configuration)
        } catch let exit as ExitCode {
            throw exit
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch {
            throw Console.fail(error, .unavailable)
        }
    }

    private func replay(_ configuration: ServerConfiguration) async throws {
        let directory = configuration.dataDirectory
        // Fails if the file is missing; `DeadLetters` would create it.
        let file = try DatabaseFile.open(
            DeadLetterRow.fileName, in: directory, formatVersion: DeadLetterRow.formatVersion)
        let target = try self.target(configuration)
        let refuser = self.from ?? target.name
        let count = try await file.read { try DeadLetters.count(of: refuser, in: $0) }
        var counts = Replay.Counts()
        if !self.dryRun {
            // Held to the end, because the sink's files may have one writer only.
            let lock = try DirectoryLock(directory: directory)
            defer { withExtendedLifetime(lock) {} }
            let letters = try DeadLetters(
                path: directory + "/" + DeadLetterRow.fileName,
                maxRows: configuration.maxDeadLetters)
            if count > 0 {
                let sink = try Application.sink(target, configuration)
                counts = try await Replay(of: letters, refusedBy: refuser, to: sink)
                    .run(limit: self.limit ?? .max)
            }
        }
        try self.show(
            Summary(
                refusedBy: refuser, sink: target.name, letters: count,
                delivered: counts.delivered, refused: counts.refused, unreadable: counts.unreadable)
        )
        if !self.dryRun, counts.delivered < count { throw ExitCode.failure }
    }

    /// Which sink gets the letters: the only one, or of several the one that refused them.
    private func target(_ configuration: ServerConfiguration) throws -> ListedSink {
        let sinks = configuration.sinks
        if sinks.count == 1 { return sinks[0] }
        if let sink = sinks.first(where: { $0.name == self.from }) { return sink }
        let names = sinks.map(\.name).joined(separator: ", ")
        throw Console.fail(
            ConfigurationError(["there are several sinks: say by --from which one of \(names)"]),
            .configuration)
    }

    private func show(_ summary: Summary) throws {
        guard !self.json else { return try Console.json(summary) }
        Console.out("\(summary.letters) dead letters of the sink \(summary.refusedBy)")
        guard !self.dryRun else { return }
        Console.out("\(summary.delivered) delivered to the sink \(summary.sink)")
        if summary.refused > 0 { Console.out("\(summary.refused) refused again, and kept") }
        if summary.unreadable > 0 {
            Console.out(
                "\(summary.unreadable) hold no hit (damaged or missed batches), and are kept")
        }
    }
}

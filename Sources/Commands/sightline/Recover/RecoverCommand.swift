// `sightline recover`: judges refused events again.
internal import ArgumentParser
internal import ConfigurationKeys
internal import Foundation
internal import GRDB
internal import Operations
internal import ServerConfiguration
internal import Storage
internal import TrackingJournal
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Makes a running server judge kept events again, or judges them here with --dry-run.
struct RecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Judge rejected events again, and record those that pass now.",
        discussion: """
            For when what made the server refuse them has been mended. It works on the events in \
            quarantine.db: rejected ones, and those with an unknown flag. The running server does \
            it, by its rules, and is asked through admin.sock in its data directory. What it \
            accepts, knows already or suppresses is kept no more, so that a second time finds \
            nothing; what it refuses stays.

            Conditions of --where: code=CODE and field=PATH of a violation, tenant=, app=, \
            delivery=, verdict=rejected or suppressed_flag_unknown, since=TIME and until=TIME of \
            the receipt. An event has to meet all of them.

            Exit 0: all were recorded. 1: some were refused again. 69: no server runs, it takes \
            nothing now, or there is no quarantine.db. 78: the configuration is wrong, or a newer \
            build has written the file.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Option(
        help: ArgumentHelp(
            "Events that meet a condition; may be repeated.", valueName: "name=value"))
    var `where`: [String] = []

    @Option(help: "The same as --where field=PATH.")
    var field: String?

    @Option(help: "Give them this app instead of their own.")
    var setApp: String?

    @Flag(help: "Judge them here, by the rules of this configuration, and record nothing.")
    var dryRun = false

    @Flag(help: "Print one line of JSON.")
    var json = false

    func validate() throws {
        _ = try self.conditions()
        if let setApp, !(1...Limits.nameBytes).contains(setApp.utf8.count) {
            throw ValidationError(
                "--set-app has \(setApp.utf8.count) bytes: an app has 1 to \(Limits.nameBytes).")
        }
    }

    func run() async throws {
        let counts: RecoveryCounts
        do {
            let configuration = try self.flags.source(file: self.config).load().checked()
            counts =
                self.dryRun
                ? try await self.judge(configuration) : try await self.recover(configuration)
        } catch let error as ConfigurationError {
            throw Console.fail(error, .configuration)
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch {
            throw Console.fail(error, .unavailable)
        }
        try self.show(counts)
        if let interruption = counts.interruption {
            Console.error("sightline: the others were not judged: \(interruption.printable)")
            throw ExitCode.unavailable
        }
        if counts.refused > 0, !self.dryRun { throw ExitCode.failure }
    }

    /// The conditions, with times converted to microseconds.
    private func conditions() throws -> [(name: String, value: String)] {
        let all = self.where + (self.field.map { ["field=\($0)"] } ?? [])
        var filter = QuarantineFilter()
        return try all.map { condition in
            // As bytes: a value may begin with a character that joins the one before it.
            guard let equals = condition.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw ValidationError(
                    "--where \"\(condition.printable)\" is no name=value, as in code=FORMAT.")
            }
            let name = String(condition[..<equals])
            var value = String(condition[condition.utf8.index(after: equals)...])
            if ["since", "until"].contains(name) {
                value = "\(try TimeOption.time(value, of: "--where \(name)"))"
            }
            do {
                try filter.add(name, value)
            } catch {
                throw ValidationError("--where: \("\(error)".printable).")
            }
            return (name, value)
        }
    }

    private func recover(_ configuration: ServerConfiguration) async throws -> RecoveryCounts {
        try await AdminSocketClient(of: configuration.dataDirectory).post(
            "/quarantine/recover",
            try self.conditions().map { ($0.name, $0.value) } + [("set_app", self.setApp)],
            as: RecoveryCounts.self)
    }

    /// Judges without a server, and so without its window: events that it would find duplicate
    /// count as accepted.
    private func judge(_ configuration: ServerConfiguration) async throws -> RecoveryCounts {
        let file = try DatabaseFile.open(
            QuarantineFile.name, in: configuration.dataDirectory,
            formatVersion: QuarantineFile.formatVersion)
        var filter = QuarantineFilter()
        for (name, value) in try self.conditions() { try filter.add(name, value) }
        let (rules, app, fixed) = (
            RuleSet(policy: configuration.policy, limits: configuration.limits), self.setApp, filter
        )
        return try await file.read { database in
            let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
            let last = try QuarantineFile.lastID(in: database)
            var (counts, after) = (RecoveryCounts(), Int64(0))
            while true {
                let rows = try QuarantineFile.rows(fixed, after: after, through: last, in: database)
                guard let newest = rows.last else { return counts }
                after = newest.id
                for piece in RecoveryPiece.pieces(of: rows) {
                    let admitted = piece.admitted(by: rules, app: app, receiveTime: now)
                    counts += piece.outcome(of: admitted).counts
                }
            }
        }
    }

    private func show(_ counts: RecoveryCounts) throws {
        guard !self.json else { return try Console.json(counts) }
        var table = TextTable([("verdict", .left), ("events", .right)])
        for (name, count) in [
            ("accepted", counts.accepted), ("duplicate", counts.duplicate),
            ("suppressed", counts.suppressed), ("refused again", counts.refused),
        ] {
            table.add([name, "\(count)"])
        }
        for line in table.lines() { Console.out(line) }
        if self.dryRun { Console.error("nothing was recorded (--dry-run)") }
    }
}

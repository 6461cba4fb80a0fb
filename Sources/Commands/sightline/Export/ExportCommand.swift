// `sightline export`: prints hits and their details, for programs that read CSV or JSON lines.
internal import ArgumentParser
internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingReport

/// Prints the hits of a time range with what their events say besides.
struct ExportCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case csv
        case ndjson
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print hits with their buttons, links and custom fields.",
        discussion: """
            Reads hits.db of the sink sqlite, also while the server runs: run it as the server's \
            user, or as a member of sqlite.group. It prints the columns of the view details, hits \
            in the order in which they came in, and reads a little at a time, so that it delays no \
            batch. A time is 90s, 30m, 2h or 7d ago, a date (2026-11-20), or a date and time with \
            its zone (2026-11-20T10:00:00Z); what counts is when the server received a hit.

            Exit 0: printed. 69: there is no database to read. 78: a newer build has written it.
            """)

    @Option(help: "The server's data directory.")
    var dataDir: String = Defaults.dataDirectory

    @Option(help: "csv has an apostrophe before what a spreadsheet would calculate.")
    var format: Format

    @Option(help: "Only what was received since then.")
    var since: String?

    @Option(help: "Only what was received before then.")
    var until: String?

    @Option(help: "Only this tenant.")
    var tenant: String?

    @Option(help: "Only this delivery, or this in-app message.")
    var delivery: String?

    func validate() throws { _ = try self.hits() }

    func run() async throws {
        let hits = try self.hits()
        do {
            let database = try DatabaseFile.open(
                HitRow.fileName, in: self.dataDir, formatVersion: HitRow.formatVersion)
            let hasView = try await database.read { try $0.viewExists(ExportedHits.view) }
            guard hasView else {
                throw DatabaseFileError.unreadable(
                    path: self.dataDir,
                    reason: "it is an earlier build's; start `sightline serve` on it once")
            }
            if self.format == .csv { Console.write(ExportedHits.heading, to: STDOUT_FILENO) }
            let ids = try await database.read { try hits.ids(in: $0) }
            let format = self.format
            for page in ids {
                let lines = try await database.read { database in
                    switch format {
                    case .csv: try hits.sheet(page, in: database)
                    case .ndjson: try hits.json(page, in: database)
                    }
                }
                Console.write(lines, to: STDOUT_FILENO)
            }
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch let error as DatabaseFileError {
            throw Console.fail(error, .unavailable)
        } catch let error where error is DatabaseError || error is RowDecodingError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        }
    }

    private func hits() throws -> ExportedHits {
        let range = try TimeOption.range(since: self.since, until: self.until)
        return ExportedHits(
            since: range.since ?? .min, until: range.until ?? .max, tenant: self.tenant,
            delivery: self.delivery)
    }
}

// `sightline report`: prints the funnel of each delivery, counted from hits.db.
internal import ArgumentParser
internal import DeliveryDiagnosis
internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingJournal
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Prints the funnel of each delivery as text, JSON, CSV or HTML.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show the funnel of each delivery and of each in-app message.",
        discussion: """
            Reads hits.db of the sink sqlite, also while the server runs. A time is 90s, 30m, 2h \
            or 7d ago, today, yesterday or a date (2026-11-20) in --time-zone, or a date and time \
            with its zone (2026-11-20T10:00:00Z); what counts is when the server received a hit, \
            or with --occurred when it happened. Hits are counted by the hour, after 90 days by \
            the day and after a year by the month (in UTC): all of these that a range touches \
            count, and the report says so. Times in JSON and CSV are UTC, or have their offset. \
            With --delivery or --details it also shows which notifications were never sent, each \
            once, by the reason of the failure that was received first, or for which they were \
            skipped, and the versions of the apps where one of them differs (not in --csv).
            With --from it counts archives of the sink jsonl instead, in a temporary hits.db.
            Exit 0: shown. 1: a file is not usable. 66: it is missing. 69: there \
            is no database to read. 74: --html cannot be written. \
            78: a newer build has written the database.
            """)

    @Option(help: "The server's data directory.")
    var dataDir: String = Defaults.dataDirectory

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Count the hits in these files of the sink jsonl, not hits.db; - is standard input.",
            valueName: "files"))
    var from: [String] = []

    @Option(help: "Only this delivery, or this in-app message.")
    var delivery: String?

    @Option(
        help: ArgumentHelp(
            """
            \(DeliveryNamesFile.columns): adds each delivery's name, and how \
            many of its recipients are in the report; one without a hit has a row of 0. Without \
            it, what `sightline deliveries put` has stored in the data directory.
            """, valueName: "file"))
    var deliveries: String?

    @Option(help: "Only this tenant.")
    var tenant: String?

    @Option(help: "Only this app.")
    var app: String?

    @Option(
        help: ArgumentHelp(
            """
            Only what came through the API, or only what came as a postback, which anybody can \
            forge. Reads the hits themselves, without deleted ones: the more there are, the longer \
            it takes.
            """, valueName: "api|postback"))
    var source: EventSource?

    @Flag(help: "Count also what `sightline bench` has sent.")
    var bench = false

    @Flag(help: "A row for each app.")
    var byApp = false

    @Option(help: "Only what was received since then, or happened with --occurred.")
    var since: String?

    @Option(help: "Only what was received before then, or happened with --occurred.")
    var until: String?

    @Flag(
        help: """
            Count by when a hit happened, as its device's clock says (a time after the receipt is \
            none), and not by when it was received. Reads the hits themselves, without deleted \
            ones: the more there are, the longer it takes.
            """)
    var occurred = false

    @Option(
        help: ArgumentHelp(
            "A row for each delivery and each hour or day with a hit.", valueName: "hour|day"))
    var series: ReportSeries.Step?

    @Option(help: "The zone of days and shown times, such as Europe/Berlin.")
    var timeZone: String = ReportZone.utc.name

    @Option(help: "Rows of each table, the largest first, 1 to 100000.")
    var limit: Int = ReportQuery.defaultLimit

    @Flag(
        help: """
            Show push notifications also by button and link, and in-app messages by action, link, \
            dismissal, error and trigger; of all deliveries also what is shown with --delivery. \
            Reads the hits themselves: the more there are, the longer it takes.
            """)
    var details = false

    @Flag(help: "Print one line of JSON.")
    var json = false

    @Flag(help: "Print CSV, both tables in one; with --series its table alone.")
    var csv = false

    @Option(help: "Write a page with plots to this file, for a browser.")
    var html: String?

    /// What the command shows in the end.
    private enum Result: Sendable {
        case report(Report)
        /// HTML, and the file for it.
        case page(String, path: String)
    }

    func validate() throws {
        guard ReportQuery.limits.contains(self.limit) else {
            throw ValidationError("--limit \(self.limit) is outside 1 to 100000.")
        }
        guard [self.json, self.csv, self.html != nil].count(where: { $0 }) < 2 else {
            throw ValidationError("--json, --csv and --html are three forms: name one.")
        }
        guard !self.details || !self.csv else {
            throw ValidationError("--details has no form for --csv: use --json or --html.")
        }
        guard self.series == nil || self.html == nil else {
            throw ValidationError("--series has no form for --html: use --json or --csv.")
        }
        _ = try self.query()
    }

    func run() async throws {
        do {
            let query = try self.query()
            let names = try await self.names()
            let result: Result
            if self.from.isEmpty {
                result = try await self.result(
                    query, names, in: self.dataDir, await self.quality(), await self.versions())
            } else {
                result = try await TemporaryFolder.with("sightline-report") { folder in
                    try await HitArchive.write(self.from, into: folder)
                    return try await self.result(query, names, in: folder, nil, nil)
                }
            }
            // Without the folder: what cannot be written ends the process.
            switch result {
            case .report(let report): try self.print(report)
            case .page(let page, let path): try self.write(page, to: path)
            }
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as InputError {
            throw Console.fail(error, .failure)
        } catch let error as FileFormatError {
            throw Console.fail(error, .configuration)
        } catch let error as DatabaseFileError {
            throw Console.fail(error, .unavailable)
        } catch let error where error is DatabaseError || error is RowDecodingError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        }
    }

    /// The names and totals of the file, or else those in the data directory; nil without any.
    private func names() async throws -> DeliveryNames? {
        if let file = self.deliveries { return try DeliveryNamesFile.read(file) }
        // Archives may be of another server.
        guard self.from.isEmpty else { return nil }
        return try await DeliveryNamesFile.stored(in: self.dataDir, tenant: self.tenant)
    }

    private func query() throws -> ReportQuery {
        var query = ReportQuery()
        query.tenant = self.tenant
        query.delivery = self.delivery
        query.app = self.app
        query.includesBench = self.bench
        query.isByApp = self.byApp
        query.limit = self.limit
        guard let zone = ReportZone(named: self.timeZone) else {
            throw ValidationError(
                """
                --time-zone "\(self.timeZone.printable)" is no zone: name one as in \
                /usr/share/zoneinfo, such as Europe/Berlin or UTC.
                """)
        }
        query.zone = zone
        query.isByOccurrence = self.occurred
        query.source = self.source
        query.step = self.series
        (query.since, query.until) = try TimeOption.range(
            since: self.since, until: self.until, in: zone)
        return query
    }

    /// The findings on deliveries; nil without a ledger, as beside a copy of hits.db.
    private func quality() async -> [DeliveryTrouble]? {
        try? await LedgerSource(dataDirectory: self.dataDir).troubles(
            tenant: self.tenant, delivery: self.delivery, limit: Report.maxTroubles)
    }

    /// Whether the report says of what it shows why it was not sent, and which version differs.
    private var hasReasons: Bool { (self.details || self.delivery != nil) && !self.csv }

    /// The deliveries of which a version differs; nil without a ledger, or if it is not asked for.
    private func versions() async -> [VersionSplit]? {
        guard self.hasReasons else { return nil }
        return try? await LedgerSource(dataDirectory: self.dataDir).versionSplits(
            tenant: self.tenant, delivery: self.delivery, limit: Report.maxSplits)
    }

    /// What is read of the hits.db in a directory.
    private func result(
        _ query: ReportQuery, _ names: DeliveryNames?, in directory: String,
        _ quality: [DeliveryTrouble]?, _ versions: [VersionSplit]?
    ) async throws -> Result {
        let database = try DatabaseFile.open(
            HitRow.fileName, in: directory, formatVersion: HitRow.formatVersion)
        let (hasDetails, hasReasons, path) = (self.details, self.hasReasons, self.html)
        // Reads in one transaction, so that plot and tables count the same hits.
        return try await database.read { database in
            var report = try Report(query, names: names, in: database)
            report.quality = quality
            report.versions = versions
            if hasReasons { report.neverSent = try NeverSent(query, in: database) }
            if hasDetails {
                report.inAppDetails = try UseDetails(query, of: .inApp, in: database)
                report.pushDetails = try UseDetails(query, of: .push, in: database)
            }
            if let path {
                let page = ReportPage(
                    report, timeline: try Timeline(query, in: database),
                    generated: Int64(Date().timeIntervalSince1970 * 1_000_000))
                return .page(try page.text(), path: path)
            }
            return .report(report)
        }
    }

    private func write(_ page: String, to path: String) throws {
        do {
            try Data(page.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Console.fail(
                PageError(path: path, reason: "\(error.localizedDescription)"), .inputOutput)
        }
    }

    private func print(_ report: Report) throws {
        if self.json {
            try Console.json(report)
        } else if self.csv {
            let lines = report.series?.sheet() ?? ReportSheet(report).lines()
            Console.write(lines.map { $0 + "\r\n" }.joined(), to: STDOUT_FILENO)
            report.notes.forEach(Console.error)
        } else {
            ReportTable(report).lines().forEach(Console.out)
            report.detailTables.flatMap { $0.lines() }.forEach(Console.out)
            report.series?.lines().forEach(Console.out)
            if report.deliveries.rows.isEmpty, report.inAppMessages.rows.isEmpty {
                Console.error("no hits: \(report.range)")
                report.notes.forEach(Console.error)
            }
        }
    }
}

extension ReportSeries.Step: ExpressibleByArgument {}

extension EventSource: ExpressibleByArgument {
    /// The source with a name.
    init?(argument: String) {
        guard let source = Self.allCases.first(where: { $0.name.equals(argument) }) else {
            return nil
        }
        self = source
    }

    /// The names, for help and completion.
    static var allValueStrings: [String] { Self.allCases.map(\.name) }
}

/// Why the page could not be written.
private struct PageError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
        "the page cannot be written to \(self.path.printable): \(self.reason.printable). Name a "
            + "file in a directory that is there and that you may write to"
    }
}

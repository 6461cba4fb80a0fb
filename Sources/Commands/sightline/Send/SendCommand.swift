// `sightline send`: sends events, and resends them until each has a verdict.
internal import ArgumentParser
internal import SightlineClient
internal import TrackingReport
internal import WireFormat

/// Sends payloads or events, and prints their outcomes.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send events to a server until each has its verdict.",
        discussion: """
            Exit 0: every event has a final verdict (a rejection is one). 1: a line was bad, or \
            the server refused. 66: a file is missing. 69: the server cannot be reached.
            """)

    @OptionGroup var input: EventInput

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Option(help: "The server's HOST:PORT.")
    var target: String = Defaults.target

    @OptionGroup var wait: WaitOption

    @Option(help: "Events in a request, 1 to 2000.")
    var batch: Int = 100

    @Option(
        help: "Seconds without any progress after which to give up, 1 to 86400, as 90, 90s or 15m.",
        transform: AmountOption.seconds)
    var giveUpAfter = 30

    @Flag(help: "Print one line of JSON per event, and no table.")
    var json = false

    func validate() throws {
        guard (1...2000).contains(self.batch) else {
            throw ValidationError("--batch \(self.batch) is outside 1 to 2000.")
        }
        guard (1...86400).contains(self.giveUpAfter) else {
            throw ValidationError("--give-up-after \(self.giveUpAfter) is outside 1 to 86400.")
        }
        if self.input.files.isEmpty {
            throw ValidationError("name at least one file, or - for standard input.")
        }
        try self.validateTarget()
    }

    func run() async throws {
        let report: SendReport
        do {
            try self.input.check()
            let address = try ServerAddress(self.target)
            var configuration = ClientConfiguration(address: address)
            configuration.limits = RequestLimits(
                maxEvents: self.batch, maxRequestBytes: RequestLimits.largestRequestByteCount)
            configuration.security = try self.security.security()
            configuration.credential = try self.credentials.credential()
            try await self.wait.find(address)
            if let platform = self.input.platform?.platform {
                let events = try self.input.payloadEvents(platform)
                report = SendReport(json: self.json, total: events.count, target: self.target)
                let source = AsyncStream(events)
                try await self.finish(report) { try await self.send(source, configuration, report) }
            } else {
                let files = self.input.files
                // Only the progress bar needs the total, and only a terminal shows it.
                let total = Console.isErrorTerminal ? InputFile.lineCount(files) : nil
                report = SendReport(json: self.json, total: total, target: self.target)
                let source = EventFiles(files) { report.takeBadLine($1, at: $0) }
                try await self.finish(report) { try await self.send(source, configuration, report) }
            }
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as InputError {
            throw Console.fail(error, .failure)
        } catch let error as AbsentServerError {
            throw Console.fail(error, .unavailable)
        } catch let error as MissingPlatformError {
            throw Console.fail(error, .validationFailure)
        } catch let error as WrongPlatformError {
            throw Console.fail(error, .validationFailure)
        }
        if report.hasBadLines { throw ExitCode.failure }
    }

    private func send<Events>(
        _ events: Events, _ configuration: ClientConfiguration, _ report: SendReport
    ) async throws -> ClientStatistics
    where Events: AsyncSequence & Sendable, Events.Element == OutgoingEvent {
        let sender = try EventSender(configuration, giveUpAfter: .seconds(self.giveUpAfter)) {
            report.take($0)
        }
        return try await sender.send(events)
    }

    /// Sends, and prints the table even if that fails.
    private func finish(
        _ report: SendReport, send: () async throws -> ClientStatistics
    ) async throws {
        do {
            let statistics = try await send()
            report.printTable(statistics)
        } catch {
            report.printTable(nil)
            throw Console.fail(client: error)
        }
    }

    private func validateTarget() throws {
        do {
            _ = try ServerAddress(self.target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
    }
}

extension AsyncStream where Element: Sendable {
    /// The elements of an array.
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}

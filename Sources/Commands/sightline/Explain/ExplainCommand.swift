// `sightline explain`: prints an event's verdict and the steps that lead to it.
internal import ArgumentParser
internal import SightlineClient
internal import SightlineProtos
internal import TrackingReport
internal import TrackingServer
internal import WireFormat

/// Explains the verdict on events, locally or on a server, without recording them.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what would become of events, and why.",
        discussion: """
            Without --target the rules run here, with the defaults and no memory of earlier \
            events. Steps name their rules, as in (D22): --rule D22 prints that one.
            Exit 0: every event was judged. 1: a line was bad. 66: a file is missing. 69: the \
            server cannot be reached.
            """)

    /// The payloads or events to explain.
    @OptionGroup var input: EventInput

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Option(help: "Ask the server at HOST:PORT, with its configuration and its memory.")
    var target: String?

    @OptionGroup var wait: WaitOption

    @Flag(help: "Print one line of JSON per event.")
    var json = false

    @Option(help: "Print one of the rules that the steps name, such as D22, and explain nothing.")
    var rule: String?

    func validate() throws {
        if let rule {
            guard self.input.files.isEmpty else {
                throw ValidationError("--rule takes no files: it prints the rule alone.")
            }
            guard RuleBook[rule] != nil else { throw ValidationError(RuleBook.problem(with: rule)) }
            return
        }
        if self.input.files.isEmpty {
            throw ValidationError("name at least one file, or - for standard input.")
        }
        guard let target = self.target else { return }
        do {
            _ = try ServerAddress(target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
    }

    func run() async throws {
        if let rule = self.rule.flatMap({ RuleBook[$0] }) {
            Console.out("\(rule.number)  \(rule.text)\nWhy  \(rule.reason)")
            return
        }
        let badLines = BadLineCounter()
        do {
            if let target { try await self.wait.find(try ServerAddress(target)) }
            if let platform = self.input.platform?.platform {
                let events = try self.input.payloadEvents(platform)
                try await self.explain(events)
            } else {
                try self.input.check()
                try await self.explainLines(badLines)
            }
        } catch {
            throw Console.fail(client: error)
        }
        if badLines.count > 0 { throw ExitCode.failure }
    }

    private func explainLines(_ badLines: BadLineCounter) async throws {
        var batch = EventBatch()
        for try await event in EventFiles(self.input.files, onBadLine: badLines.report) {
            try await self.explain(event, after: &batch)
        }
        try await self.explain(batch)
    }

    private func explain(_ events: [OutgoingEvent]) async throws {
        var batch = EventBatch()
        for event in events { try await self.explain(event, after: &batch) }
        try await self.explain(batch)
    }

    /// Adds an event to a batch; a full batch is explained first.
    private func explain(_ event: OutgoingEvent, after batch: inout EventBatch) async throws {
        if try !batch.add(event) {
            try await self.explain(batch)
            batch = EventBatch()
            _ = try batch.add(event)
        }
    }

    private func explain(_ batch: EventBatch) async throws {
        guard !batch.events.isEmpty else { return }
        let results = try await self.results(of: batch.events.map(\.event))
        for (event, result) in zip(batch.events, results) {
            try self.print(EventOutcome(origin: event.origin, result: result))
        }
    }

    private func results(
        of events: [Sightline_V1_TrackingEvent]
    ) async throws -> [Sightline_V1_EventResult] {
        guard let target = self.target else {
            return try await Explainer().explain(events).results
        }
        let client = TrackingClient(
            address: try ServerAddress(target), timeout: .seconds(30),
            security: try self.security.security(),
            credential: try self.credentials.credential())
        return try await client.explain(events).results
    }

    private func print(_ outcome: EventOutcome) throws {
        guard !self.json else {
            try Console.json(ResultLine(outcome))
            return
        }
        let result = outcome.result
        let hits = result.hits.isEmpty ? "no hits" : result.hits.map(\.name).joined(separator: ", ")
        Console.out(
            "\(outcome.origin.description.printable)  \(self.coloured(result.verdict))  \(hits)")
        for violation in result.violations {
            Console.out(
                "  \(violation.field.printable)  \(violation.code.name)  "
                    + violation.description_p.printable)
        }
        if !result.warnings.isEmpty {
            Console.out("  warnings: \(result.warnings.map(\.name).joined(separator: ", "))")
        }
        for (number, step) in result.explanation.enumerated() {
            Console.out(Console.coloured("  \(number + 1). \(step.printable)", .grey))
        }
    }

    private func coloured(_ verdict: Sightline_V1_Verdict) -> String {
        switch verdict {
        case .accepted: Console.coloured(verdict.name, .green)
        case .rejected: Console.coloured(verdict.name, .red)
        default: Console.coloured(verdict.name, .yellow)
        }
    }
}

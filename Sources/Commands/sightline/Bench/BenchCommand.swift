// `sightline bench`: how much a server takes, and how soon it acks.
internal import ArgumentParser
internal import SightlineClient
internal import TrackingReport

extension BenchPlan.Mix: ExpressibleByArgument {}

/// Loads a server with new events; prints its throughput and the latency of its acks.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a server with new events, and measure its rate and its acks.",
        discussion: """
            Every event is new, so the server keeps its hits, as of the app sightline.bench, which \
            `sightline report` leaves out. Without --rate the loop is closed, and latency follows \
            from --window. Compare latencies with --rate, where they count from when a request was \
            due.
            Exit 0: every event was accepted. 1: some were not, or the server refused. 64: without \
            --rate or --yes, a server with events of others is not loaded. 66: a file is missing. \
            69: the server cannot be reached, or acks no more.
            """)

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Option(help: "The server's HOST:PORT.")
    var target: String = Defaults.target

    @OptionGroup var wait: WaitOption

    @OptionGroup var consent: BenchConsent

    @Option(help: "Connections, 1 to 1000.")
    var connections = BenchPlan().connections

    @Option(help: "Streams on each connection, 1 to 1000.")
    var streams = BenchPlan().streams

    @Option(help: "Events in a request, 1 to 2000.")
    var batch = BenchPlan().batch

    @Option(help: "Bytes of an event, 240 to 16384; a track action ends at its longest subject.")
    var eventBytes = BenchPlan().eventBytes

    @Option(help: "Requests in flight per stream, 1 to 4096.")
    var window = BenchPlan().window

    @Option(help: "How long to send, 1 to 86400 seconds. (default: 10)")
    var seconds: Int?

    @Option(help: "How many events to send instead, 1 to 1000000000000.")
    var events: Int?

    @Option(help: "Open loop: events per second, 1 to 100000000. Latency counts from when due.")
    var rate: Int?

    @Option(
        help: """
            opened: opened iOS notifications, two hits each. real: 60 % Android impressions, 25 % \
            opened, 10 % dismissed, 5 % track actions.
            """)
    var mix = BenchPlan().mix

    @Flag(help: "Print one line of JSON.")
    var json = false

    func validate() throws {
        if self.seconds != nil, self.events != nil {
            throw ValidationError("--seconds and --events exclude each other; give one.")
        }
        do {
            _ = try ServerAddress(self.target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
        do {
            try self.plan.validate()
        } catch {
            throw ValidationError("\(error).")
        }
    }

    func run() async throws {
        let plan = self.plan
        let report = BenchReport(plan)
        let summary: BenchSummary
        do {
            let security = try self.security.security()
            let credential = try self.credentials.credential()
            let address = try ServerAddress(self.target)
            try await self.wait.find(address)
            if self.rate == nil {
                try await self.consent.check(address, isUsual: self.target == Defaults.target)
            }
            let bench = Bench(
                address: address, plan: plan,
                security: security, credential: credential)
            summary = try await bench.run { report.take($0) }
        } catch let error as BenchRefusal {
            throw Console.fail(error, .validationFailure)
        } catch {
            throw Console.fail(client: error)
        }
        let figures = report.figures(summary)
        if self.json {
            try Console.json(figures)
        } else {
            for line in figures.lines { Console.out(line) }
        }
        guard figures.isAllAccepted else { throw ExitCode.failure }
    }

    private var plan: BenchPlan {
        var plan = BenchPlan()
        plan.connections = self.connections
        plan.streams = self.streams
        plan.batch = self.batch
        plan.eventBytes = self.eventBytes
        plan.window = self.window
        plan.rate = self.rate
        plan.mix = self.mix
        if let seconds = self.seconds { plan.end = .seconds(seconds) }
        if let events = self.events { plan.end = .events(events) }
        return plan
    }
}

// `sightline bench`: measures a server's throughput and the latency of its acks.
internal import AdminProtocol
internal import ArgumentParser
internal import Foundation
internal import SightlineClient
internal import TrackingReport
internal import WireFormat

/// Loads a server with new events; prints its throughput and the latency of its acks.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Load a server with new events, and measure its rate and its acks.",
        discussion: """
            The server keeps what it gets, as of the app sightline.bench, which `sightline report` \
            leaves out. Without --rate the loop is closed: 16 requests are under way on each \
            connection. Compare latencies with --rate, where they count from when a request was due.
            Exit 0: every event was accepted, or a duplicate of the mix. 1: some were not, or the \
            server refused. 64: without --rate or --yes, a server with events of others is not \
            loaded. 66: a file is missing. 69: the server cannot be reached, or acks no more.
            """)

    @OptionGroup(title: "Security") var security: ClientSecurityOptions
    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Option(help: "The server's HOST:PORT.")
    var target: String = Defaults.target

    @OptionGroup var wait: WaitOption
    @OptionGroup var plan: BenchPlan

    @Flag(help: "Load without a rate also a server that has, or may have, events of others.")
    var yes = false

    @Flag(help: "Print one line of JSON.")
    var json = false

    func validate() throws {
        do {
            _ = try ServerAddress(self.target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
    }

    func run() async throws {
        let figures: BenchFigures
        do {
            let address = try ServerAddress(self.target)
            try await self.wait.find(address)
            if self.plan.rate == nil, !self.yes, let reason = await self.objection(to: address) {
                Console.error(
                    "sightline: \(reason): a load without a rate would slow their acks and push "
                        + "their facts out of the window. Give it a --rate, or say --yes")
                throw ExitCode.validationFailure
            }
            let run = try BenchRun(self.plan, address: address)
            let microseconds = clock()
            try await run.run(try self.security.security(), try self.credentials.credential())
            figures = BenchFigures(run, processorSeconds: Double(clock() - microseconds) / 1e6)
        } catch {
            throw Console.fail(client: error)
        }
        try self.json ? Console.json(figures) : figures.lines.forEach(Console.out)
        guard figures.isAllAccepted else { throw ExitCode.failure }
    }

    /// Why the server has, or may have, other clients' events; nil if it has none. A load without a
    /// rate takes every core. It also evicts keys from the window, so that repeated facts may count
    /// twice.
    private func objection(to target: ServerAddress) async -> String? {
        guard ["localhost", "::1"].contains(target.host) || target.host.hasPrefix("127.") else {
            return "\(target) is another machine's, and may have events of others"
        }
        // The default admin address belongs to the default target only, and the admin server may be
        // off.
        guard target.description == Defaults.target, let admin = try? ServerAddress(Defaults.admin),
            let statistics = try? await StatisticsClient(address: admin).read().statistics
        else { return nil }
        let deliveries = statistics.deliveries.busiest
        let isBenchAlone = deliveries.allSatisfy { $0.deliveryId == BenchMark.deliveryID }
        if statistics.events.accepted == 0 || (isBenchAlone && !deliveries.isEmpty) { return nil }
        return "\(target) has accepted events of others since it started"
    }
}

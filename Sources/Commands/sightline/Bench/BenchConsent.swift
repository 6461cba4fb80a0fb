internal import AdminServer
internal import ArgumentParser
internal import SightlineClient
internal import TrackingRules

/// Keeps a load without a rate away from servers that people use: it takes every core and fills the
/// window, so that facts which come again may count twice.
struct BenchConsent: ParsableArguments {
    @Option(
        help: """
            The admin server, HOST:PORT, to ask whether the server has events of others; the usual \
            one if --target is.
            """)
    var admin: String?

    @Flag(help: "Load without a rate also a server that has, or may have, events of others.")
    var yes = false

    func validate() throws {
        guard let admin else { return }
        do {
            _ = try ServerAddress(admin)
        } catch {
            throw ValidationError("--admin: \(error)")
        }
    }

    /// Lets a load without a rate begin, or says why not.
    ///
    /// - Throws: `BenchRefusal`.
    func check(_ target: ServerAddress, isUsual: Bool) async throws {
        guard !self.yes else { return }
        guard let admin = self.admin ?? (isUsual ? Defaults.admin : nil) else {
            guard target.isLoopback else {
                throw BenchRefusal(
                    reason: "\(target) is another machine's, and --admin does not tell whether it "
                        + "has events of others")
            }
            return
        }
        guard let statistics = try? await self.statistics(of: admin) else {
            // The usual one may be off; the one that was named has to answer.
            guard self.admin != nil else { return }
            throw BenchRefusal(
                reason: "\(admin) does not tell whether \(target) has events of others")
        }
        let deliveries = statistics.deliveries.busiest
        let isBenchAlone = deliveries.allSatisfy { $0.deliveryId == BenchMark.deliveryID }
        guard statistics.events.accepted == 0 || (isBenchAlone && !deliveries.isEmpty) else {
            throw BenchRefusal(reason: "\(target) has accepted events of others since it started")
        }
    }

    private func statistics(of admin: String) async throws -> Statistics {
        try await StatisticsClient(address: try ServerAddress(admin)).read().statistics
    }
}

extension ServerAddress {
    fileprivate var isLoopback: Bool {
        self.host == "localhost" || self.host.hasPrefix("127.") || self.host == "::1"
    }
}

/// Why a load without a rate does not begin.
struct BenchRefusal: Error, CustomStringConvertible {
    let reason: String

    var description: String {
        "\(self.reason): a load without a rate would slow their acks and push their facts out of "
            + "the window. Give it a --rate, or say --yes"
    }
}

internal import ArgumentParser
internal import SightlineClient
internal import SinkKit
internal import TrackingReport
internal import WireFormat

/// Checks that a server listens before a command connects. The client library would retry for as
/// long as it may, and report each attempt.
struct WaitOption: ParsableArguments {
    @Option(
        help: "Wait for a server that is not there yet, 0 to 86400 seconds, as 90, 90s or 15m.",
        transform: AmountOption.seconds)
    var wait = 0

    private static let askInterval: Duration = .milliseconds(250)

    func validate() throws {
        guard (0...86400).contains(self.wait) else {
            throw ValidationError("--wait \(self.wait) is outside 0 to 86400.")
        }
    }

    /// Returns as soon as the address accepts a connection.
    ///
    /// - Parameter option: the option that names the address.
    /// - Throws: `AbsentServerError` at once, or after `wait` seconds.
    func find(_ address: ServerAddress, option: String = "--target") async throws {
        let probe = HostProbe(host: address.host, port: address.port, key: option)
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(self.wait)
        while true {
            let failed = await probe.steps().first { $0.outcome == .failed }
            guard let failed else { return }
            guard clock.now + Self.askInterval < deadline else {
                throw AbsentServerError(
                    address: address, option: option, reason: failed.text, waited: self.wait)
            }
            try await Task.sleep(for: Self.askInterval)
        }
    }
}

/// No server listens.
struct AbsentServerError: Error, CustomStringConvertible {
    let address: ServerAddress
    let option: String
    let reason: String
    let waited: Int

    var description: String {
        let after = self.waited == 0 ? "" : " after \(self.waited) s"
        return "no server answers\(after): \(self.reason.printable). Start one with `sightline "
            + "serve`, name another with \(self.option) HOST:PORT, or let --wait SECONDS wait for "
            + "it"
    }
}

// `sightline health`: whether a server takes events, for scripts and container probes.
internal import ArgumentParser
internal import SightlineProtos
internal import TrackingClient

/// Asks a server for its health.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a server whether it takes events.",
        discussion: "Exit 0: it is SERVING. 69: it is not, or cannot be asked.")

    private static let timeout: Duration = .seconds(5)

    @Option(help: "The server, HOST:PORT.")
    var target: String = Defaults.target

    @Option(help: "The service to ask for; the whole server without it.")
    var service: String = ""

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    func run() async throws {
        do {
            let client = TrackingClient(
                address: try ServerAddress(self.target), giveUpAfter: Self.timeout,
                security: try self.security.security(),
                credential: try self.credentials.credential())
            let status = try await client.health(of: self.service)
            Console.out(status == .serving ? "SERVING" : "NOT_SERVING")
            guard status == .serving else { throw ExitCode.unavailable }
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as TrackingClientError {
            throw Console.fail(error, .unavailable)
        }
    }
}

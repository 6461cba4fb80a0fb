// `sightline health`: checks whether a server accepts events, for scripts and container probes.
internal import ArgumentParser
internal import SightlineClient
internal import SightlineProtos
internal import TrackingReport
internal import WireFormat

/// Checks whether a server accepts events, for scripts and container probes.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a server whether it takes events.",
        discussion: """
            With --admin it asks the admin server over HTTP, which needs neither TLS nor \
            credentials: for probes beside the server. Exit 0: it is SERVING. 66: a file is \
            missing. 69: it is not SERVING, or cannot be asked.
            """)

    private static let timeout: Duration = .seconds(5)

    @Option(help: "The server, HOST:PORT.")
    var target: String = Defaults.target

    @Option(help: "The service to ask for; the whole server without it.")
    var service: String = ""

    @Option(help: "The admin server, HOST:PORT, to be asked instead of --target.")
    var admin: String?

    @OptionGroup var wait: WaitOption

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    func validate() throws {
        if self.admin != nil, !self.service.isEmpty {
            throw ValidationError("--admin asks for the whole server: leave --service out.")
        }
        do {
            _ = try ServerAddress(self.admin ?? self.target)
        } catch {
            let option = self.admin == nil ? "--target" : "--admin"
            throw ValidationError("\(option): \("\(error)".printable)")
        }
    }

    func run() async throws {
        do {
            let isServing = try await self.isServing()
            Console.out(isServing ? "SERVING" : "NOT_SERVING")
            guard isServing else { throw ExitCode.unavailable }
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as AbsentServerError {
            throw Console.fail(error, .unavailable)
        } catch let error as TrackingClientError {
            throw Console.fail(error, .unavailable)
        } catch let error as SightlineClientError {
            // To a probe, a server that cannot be asked is unavailable, whatever the reason.
            _ = Console.fail(client: error)
            throw ExitCode.unavailable
        } catch let error as AdminServerError {
            throw Console.fail(error, .unavailable)
        }
    }

    private func isServing() async throws -> Bool {
        if let admin {
            let address = try ServerAddress(admin)
            try await self.wait.find(address, option: "--admin")
            return try await ReadinessClient(address: address).isReady(within: Self.timeout)
        }
        let security = try self.security.security()
        let credential = try self.credentials.credential()
        let address = try ServerAddress(self.target)
        try await self.wait.find(address)
        let client = TrackingClient(
            address: address, timeout: Self.timeout, security: security, credential: credential)
        return try await client.health(of: self.service) == .serving
    }
}

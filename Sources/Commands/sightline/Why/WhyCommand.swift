// `sightline why`: explains the figures of a delivery.
internal import ArgumentParser
internal import DeliveryDiagnosis
internal import GRDB
internal import SightlineClient
internal import TrackingReport
internal import WireFormat

/// Explains a delivery's figures in sentences, from the server's ledger.
struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why a delivery has the figures that it has, or none.",
        discussion: """
            Reads the ledger of what counted and what did not: of a running server through the \
            socket in its data directory, or of a stopped one from its files; with --target from a \
            server elsewhere, as the tenant of the credentials.
            Exit 0: told. 66: a file is missing. 69: there is no ledger to read, or the server \
            cannot be reached. 78: a newer build has written the files.
            """)

    @Argument(help: "The delivery's id, or an in-app message's.")
    var delivery: String

    @Option(help: "The server's data directory.")
    var dataDir: String = Defaults.dataDirectory

    @Option(help: "Only this tenant; else each that has the delivery. Not with --target.")
    var tenant: String?

    @Option(help: "Ask the server at HOST:PORT.")
    var target: String?

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    @Flag(help: "Print one line of JSON per tenant, with all rows.")
    var json = false

    func validate() throws {
        if self.delivery.isEmpty { throw ValidationError("name a delivery.") }
        guard let target = self.target else { return }
        if self.tenant != nil {
            throw ValidationError("--tenant: a server tells a tenant of itself alone.")
        }
        do {
            _ = try ServerAddress(target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
    }

    func run() async throws {
        for account in try await self.accounts() {
            if self.json {
                try Console.json(account)
            } else {
                DeliveryAccountText(account).lines.forEach(Console.out)
            }
        }
    }

    private func accounts() async throws -> [DeliveryAccountLine] {
        do {
            if let target { return [try await self.ask(target)] }
            return try await LedgerSource(dataDirectory: self.dataDir)
                .accounts(of: self.delivery, tenant: self.tenant)
        } catch let error as DatabaseError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        } catch {
            throw Console.fail(client: error)
        }
    }

    private func ask(_ target: String) async throws -> DeliveryAccountLine {
        let client = TrackingClient(
            address: try ServerAddress(target), timeout: .seconds(30),
            security: try self.security.security(),
            credential: try self.credentials.credential())
        return DeliveryAccountLine(
            try await client.explainDelivery(self.delivery), of: self.delivery)
    }
}

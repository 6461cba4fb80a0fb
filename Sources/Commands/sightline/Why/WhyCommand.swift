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
            server elsewhere, as the tenant of the credentials. Where nothing of the delivery has \
            arrived, it looks for the id in letters of another case, and for a name: of an in-app \
            message's campaign in hits.db, of others in --deliveries, or among those that were put \
            with `sightline deliveries put`. It then tells of that delivery, or on standard error \
            which ones may be meant.
            Exit 0: told. 66: a file is missing. 69: there is no ledger to read, or the server \
            cannot be reached. 78: a newer build has written the files.
            """)

    @Argument(help: "The delivery's id or name, or an in-app message's.")
    var delivery: String

    @Option(
        help: ArgumentHelp(
            "\(DeliveryNamesFile.columns): a delivery can be asked for by its name.",
            valueName: "file"))
    var deliveries: String?

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
        for account in try await self.found() {
            if self.json {
                try Console.json(account)
            } else {
                DeliveryAccountText(account).lines.forEach(Console.out)
            }
        }
    }

    /// The accounts of the delivery, or of the only one that can be meant instead.
    private func found() async throws -> [DeliveryAccountLine] {
        do {
            let asked = try await self.accounts(of: self.delivery, self.tenant)
            if asked.isEmpty || asked.contains(where: \.isSeen) { return asked }
            let candidates = try await self.candidates()
            guard let first = candidates.first, first.isSame,
                candidates.allSatisfy({ $0.delivery.equals(first.delivery) })
            else {
                if !candidates.isEmpty { Console.error(Self.proposal(candidates)) }
                return asked
            }
            if first.delivery.equals(self.delivery) { return asked }
            // Of another tenant the same id is another delivery, which was not asked for.
            var accounts: [DeliveryAccountLine] = []
            for tenant in candidates.map(\.tenant) {
                accounts += try await self.accounts(
                    of: first.delivery, tenant.isEmpty ? self.tenant : tenant)
            }
            // A guess that a server elsewhere knows nothing of is none.
            if self.target != nil, first.name == nil, !accounts.contains(where: \.isSeen) {
                return asked
            }
            Console.error(
                "nothing is known of \"\(self.delivery.printable)\"; this is "
                    + Self.texts(candidates).joined(separator: " and "))
            return accounts
        } catch let error where error is DatabaseError || error is RowDecodingError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        } catch {
            throw Console.fail(client: error)
        }
    }

    private func accounts(
        of delivery: String, _ tenant: String?
    ) async throws -> [DeliveryAccountLine] {
        if let target { return [try await self.ask(target, of: delivery)] }
        return try await LedgerSource(dataDirectory: self.dataDir)
            .accounts(of: delivery, tenant: tenant)
    }

    /// The deliveries that may be meant. Of a server elsewhere only a guess: Campaign Standard's
    /// ids have small letters.
    private func candidates() async throws -> [DeliverySearch.Candidate] {
        let search = DeliverySearch(self.delivery)
        var found =
            try self.deliveries.map { try DeliveryNamesFile.read($0).candidates(of: search) } ?? []
        guard self.target == nil else {
            let guess = search.candidate(
                tenant: "", delivery: self.delivery.lowercased(), name: nil)
            return found.isEmpty ? [guess].compactMap(\.self) : found
        }
        found += try await LedgerSource(dataDirectory: self.dataDir)
            .candidates(like: self.delivery, tenant: self.tenant)
        found += try await self.storedCandidates(of: search)
        if self.deliveries == nil {
            let names = try await DeliveryNamesFile.stored(in: self.dataDir, tenant: self.tenant)
            found += names?.candidates(of: search, tenant: self.tenant) ?? []
        }
        return DeliverySearch.best(of: found)
    }

    /// Those of hits.db; none without the sink sqlite.
    private func storedCandidates(
        of search: DeliverySearch
    ) async throws -> [DeliverySearch.Candidate] {
        let tenant = self.tenant
        do {
            return try await DatabaseFile.open(
                HitRow.fileName, in: self.dataDir, formatVersion: HitRow.formatVersion
            ).read { database in
                try StoredDeliveries.candidates(of: search, tenant: tenant, in: database)
            }
        } catch is DatabaseFileError {
            return []
        }
    }

    private static func proposal(_ candidates: [DeliverySearch.Candidate]) -> String {
        let lines = Self.texts(candidates).map { "  \($0)" }
        return (["you may mean:"] + lines).joined(separator: "\n")
    }

    /// With the tenants where there are several.
    private static func texts(_ candidates: [DeliverySearch.Candidate]) -> [String] {
        let hasTenants = Set(candidates.map(\.tenant).filter { !$0.isEmpty }).count > 1
        return candidates.map { candidate in
            let name = candidate.name.map { ", \"\($0.printable)\"" } ?? ""
            let isOwned = hasTenants && !candidate.tenant.isEmpty
            let owner = isOwned ? ", of the tenant \(candidate.tenant.printable)" : ""
            return "the delivery \(candidate.delivery.printable)\(name)\(owner)"
        }
    }

    private func ask(
        _ target: String, of delivery: String
    ) async throws -> DeliveryAccountLine {
        let client = TrackingClient(
            address: try ServerAddress(target), timeout: .seconds(30),
            security: try self.security.security(),
            credential: try self.credentials.credential())
        return DeliveryAccountLine(
            try await client.explainDelivery(delivery), of: delivery)
    }
}

// `sightline deliveries list`: shows what a server has of deliveries as a whole.
internal import ArgumentParser
internal import GRDB
internal import TrackingJournal
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Lists the names and totals that were put, from the data directory.
struct DeliveriesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the names and totals of deliveries that were put.",
        discussion: """
            Reads deliveries.db of the data directory, also while the server runs. A delivery has \
            a row for each platform whose figures were put.
            Exit 0: shown. 69: there is no database to read. 78: a newer build has written it.
            """)

    @Option(help: "The server's data directory.")
    var dataDir: String = Defaults.dataDirectory

    @Option(help: "Only this tenant.")
    var tenant: String?

    @Flag(help: "Print one line of JSON per delivery.")
    var json = false

    func run() async throws {
        let tenant = self.tenant
        let deliveries: [DeliveryTotals]
        do {
            deliveries = try await DeliveryNamesFile.database(in: self.dataDir).read { database in
                try DeliveryTotalsFile.all(tenant: tenant, in: database)
            }
        } catch let error where error is DatabaseError || error is RowDecodingError {
            throw Console.fail(
                DatabaseFileError.unreadable(path: self.dataDir, reason: "\(error)"), .unavailable)
        } catch {
            throw Console.fail(client: error)
        }
        if self.json {
            for delivery in deliveries { try Console.json(DeliveryTotalsLine(delivery)) }
        } else if deliveries.isEmpty {
            Console.error("no delivery was put")
        } else {
            Self.table(of: deliveries).lines().forEach(Console.out)
        }
    }

    private static func table(of deliveries: [DeliveryTotals]) -> TextTable {
        var table = TextTable([
            ("tenant", .left), ("id", .left), ("name", .left), ("product", .left),
            ("sent at", .left), ("platform", .left), ("sent", .right), ("delivered", .right),
            ("failed", .right),
        ])
        for delivery in deliveries {
            let platforms =
                delivery.platforms.isEmpty ? [DeliveryTotals.OfPlatform()] : delivery.platforms
            for figures in platforms {
                table.add(
                    [
                        delivery.tenant, delivery.delivery, delivery.name ?? "-",
                        delivery.product?.name ?? "-", delivery.sentTime.map(ReportTime.utc) ?? "-",
                        figures.platform?.name ?? "-",
                    ]
                        + [figures.sent, figures.delivered, figures.failed].map { figure in
                            figure.map(Figure.grouped) ?? "-"
                        })
            }
        }
        return table
    }
}

/// A delivery as a line of JSON; what is not known is absent.
private struct DeliveryTotalsLine: Encodable {
    struct OfPlatform: Encodable {
        let platform: String?
        let sent: Int?
        let delivered: Int?
        let failed: Int?
    }

    let tenant: String
    let delivery: String
    let name: String?
    let product: String?
    let sentAt: String?
    let platforms: [OfPlatform]

    init(_ totals: DeliveryTotals) {
        self.tenant = totals.tenant
        self.delivery = totals.delivery
        self.name = totals.name
        self.product = totals.product?.name
        self.sentAt = totals.sentTime.map(ReportTime.utc)
        self.platforms = totals.platforms.map { figures in
            OfPlatform(
                platform: figures.platform?.name, sent: figures.sent,
                delivered: figures.delivered, failed: figures.failed)
        }
    }
}

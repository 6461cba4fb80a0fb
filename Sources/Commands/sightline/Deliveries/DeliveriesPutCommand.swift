// `sightline deliveries put`: sends a file of deliveries to a server.
internal import ArgumentParser
internal import Foundation
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingJournal
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Sends the deliveries of a file in batches, and prints those that the server rejects.
struct DeliveriesPutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Put names and totals of deliveries, from CSV.",
        discussion: """
            The newest put of a delivery replaces the one before wholly, so a file may be put \
            again. A delivery has one row, or one for each platform. With credentials, these need \
            the scope deliveries. Each node has its own data: put the file to all of them.
            Exit 0: all are stored. 1: the file is not usable, or the server refused it or some \
            of its deliveries, which are told by line. 66: it is missing. 69: the server cannot \
            be reached, or cannot store them now.
            """)

    @Argument(help: "\(DeliveryNamesFile.columns); - is standard input.")
    var file: String

    @Option(help: "The server's HOST:PORT.")
    var target: String = Defaults.target

    @OptionGroup(title: "Security") var security: ClientSecurityOptions

    @OptionGroup(title: "Credentials") var credentials: CredentialOptions

    func validate() throws {
        do {
            _ = try ServerAddress(self.target)
        } catch {
            throw ValidationError("--target: \("\(error)".printable)")
        }
    }

    func run() async throws {
        var (stored, rejected) = (0, 0)
        do {
            let rows = try DeliveryNamesFile.table(self.file).rows
            let client = TrackingClient(
                address: try ServerAddress(self.target), timeout: .seconds(30),
                security: try self.security.security(),
                credential: try self.credentials.credential())
            for start in stride(from: 0, to: rows.count, by: DeliveryTotals.maxInRequest) {
                let batch = Array(rows[start...].prefix(DeliveryTotals.maxInRequest))
                let answer = try await client.put(
                    batch.map { Sightline_V1_DeliveryTotals($0.totals) })
                stored += Int(answer.storedCount)
                rejected += answer.rejected.count
                answer.rejected.forEach { self.show($0, of: batch) }
            }
        } catch {
            if stored > 0 { Console.error("\(Self.text(stored)) stored before it failed") }
            throw Console.fail(client: error)
        }
        Console.out("\(Self.text(stored)) stored")
        guard rejected > 0 else { return }
        Console.error("sightline: \(Self.text(rejected)) not stored: see the lines above")
        throw ExitCode.failure
    }

    private static func text(_ count: Int) -> String {
        "\(Figure.grouped(count)) \(count == 1 ? "delivery is" : "deliveries are")"
    }

    private func show(
        _ rejected: Sightline_V1_RejectedDelivery,
        of batch: [DeliveryTotalsTable.Row]
    ) {
        let index = Int(rejected.index)
        guard index < batch.count else { return }
        let row = batch[index]
        for violation in rejected.violations {
            Console.error(
                "\(self.file.printable): line \(row.line): delivery "
                    + "\(row.totals.delivery.printable): \(violation.field.printable): "
                    + violation.description_p.printable)
        }
    }
}

extension Sightline_V1_DeliveryTotals {
    /// The message that puts totals.
    fileprivate init(_ totals: DeliveryTotals) {
        self.init()
        self.deliveryID = totals.delivery
        self.name = totals.name ?? ""
        switch totals.product {
        case .standard: self.product = .standard
        case .classic: self.product = .classic
        case .firebase, nil: self.product = .unspecified
        }
        if let time = totals.sentTime {
            self.sentAt = .with {
                $0.seconds = time / 1_000_000
                $0.nanos = Int32(truncatingIfNeeded: time % 1_000_000 * 1000)
            }
        }
        self.platforms = totals.platforms.map(Sightline_V1_PlatformTotals.init)
    }
}

extension Sightline_V1_PlatformTotals {
    fileprivate init(_ figures: DeliveryTotals.OfPlatform) {
        self.init()
        switch figures.platform {
        case .android: self.platform = .android
        case .ios: self.platform = .ios
        case nil: self.platform = .unspecified
        }
        if let sent = figures.sent { self.sent = UInt64(clamping: sent) }
        if let delivered = figures.delivered { self.delivered = UInt64(clamping: delivered) }
        if let failed = figures.failed { self.failed = UInt64(clamping: failed) }
    }
}

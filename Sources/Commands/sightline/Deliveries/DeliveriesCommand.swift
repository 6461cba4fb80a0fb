// `sightline deliveries`: puts and lists what a sender knows of its deliveries as a whole.
internal import ArgumentParser

/// The parent of the commands for totals of deliveries.
struct DeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "Put and list names and totals of deliveries.",
        discussion: """
            For senders that do not report each recipient: how many messages of a delivery were \
            sent, delivered and failed. A report has them beside the hits.
            """,
        subcommands: [DeliveriesPutCommand.self, DeliveriesListCommand.self])
}

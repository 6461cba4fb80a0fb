// `sightline forget`: erases a recipient.
internal import ArgumentParser
internal import ConfigurationKeys
internal import Operations
internal import ServerConfiguration
internal import SinkKit
internal import TrackingReport
internal import WireFormat

/// Makes a running server forget a subject. The server does it because it has the files open.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Erase a recipient from this node and its sinks, for good.",
        discussion: """
            The running server does it, and is asked through admin.sock in its data directory. It \
            remembers a keyed hash of the id, deletes the recipient's hits, dead letters and kept \
            events, and tells the sinks that can pass it on. What comes of the recipient later is \
            delivered without the id. Counts stay as they are: they name nobody.

            The receipt says what was done in each place, and what was not. Each node has its own \
            data: run it on all of them. To repeat it is safe.

            Exit 0: it is done. 64: the file has no id. 66: it cannot be read. 69: a place failed, \
            or no server runs; repeat it then. 78: the configuration is wrong.
            """)

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @OptionGroup var subject: SubjectOptions

    @Option(help: "The tenant whose recipient it is.")
    var tenant: String

    @Flag(help: "Print the receipt as one line of JSON.")
    var json = false

    func run() async throws {
        let receipt: ErasureReceipt
        do {
            let configuration = try self.flags.source(file: self.config).load().checked()
            let id = try self.subject.id()
            receipt = try await AdminSocketClient(of: configuration.dataDirectory).post(
                "/privacy/forget", [("tenant", self.tenant), ("subject", id)],
                as: ErasureReceipt.self)
        } catch let error as ValidationError {
            throw error
        } catch let error as ConfigurationError {
            throw Console.fail(error, .configuration)
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as InputError {
            throw Console.fail(error, .validationFailure)
        } catch {
            throw Console.fail(error, .unavailable)
        }
        try self.show(receipt)
        guard receipt.hasFailed else { return }
        Console.error("sightline: not all is erased: run it again once the reason is gone")
        throw ExitCode.unavailable
    }

    private func show(_ receipt: ErasureReceipt) throws {
        guard !self.json else { return try Console.json(receipt) }
        var table = TextTable([
            ("place", .left), ("outcome", .left), ("erased", .right), ("note", .left),
        ])
        for place in receipt.places {
            let erasure = place.erasure
            table.add([
                place.name.printable, erasure.outcome.rawValue, "\(erasure.count)",
                erasure.reason.printable,
            ])
        }
        for line in table.lines() { Console.out(line) }
    }
}

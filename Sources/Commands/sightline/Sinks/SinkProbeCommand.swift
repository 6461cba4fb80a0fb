// `sightline sinks try`: checks that a sink's backend can be reached and written.
internal import ArgumentParser
internal import Credentials
internal import ServerConfiguration
internal import SinkKit
internal import TrackingReport
internal import TrackingServer
internal import WireFormat

/// Delivers one test hit to a sink, and reports each step.
struct SinkProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract: "Connect to a sink's backend, and deliver one test hit to it.",
        discussion: """
            Needs no running server, and disturbs none: it reads the configuration, and writes \
            nothing in the data directory that stays. Each step is told: name, connection, TLS, \
            write, and of the first that fails the sink's own error and the fix. The app, \
            delivery, notification and subject of the test hit are "sightline-try"; to Campaign \
            none is sent, because it would count. Exit 0: all steps worked. 1: one failed. 78: the \
            configuration is wrong, or has no such sink.
            """)

    @Argument(help: "The sink's name in the configuration; by default its type.")
    var name: String

    @Option(help: "A YAML file of keys and values.")
    var config: String?

    @OptionGroup var flags: ConfigurationFlags

    @Option(help: "The tenant whose hit it is.")
    var tenant = Tenant.standard.name

    @Flag(help: "Print one line of JSON per step.")
    var json = false

    /// A step as printed with --json.
    private struct Line: Encodable {
        let sink: String
        let step: String
        let outcome: String
        let text: String
        let fix: String?
    }

    func validate() throws {
        guard Tenant(self.tenant) != nil else {
            throw ValidationError("--tenant has to have \(Tenant.rule).")
        }
    }

    func run() async throws {
        let steps: [ProbeStep]
        do {
            let configuration = try self.flags.source(file: self.config).load().checked()
            steps = try await SinkProbe(configuration).steps(of: self.name, tenant: self.tenant)
        } catch {
            throw Console.fail(error, .configuration)
        }
        for step in steps { try self.show(step) }
        if steps.contains(where: { $0.outcome == .failed }) { throw ExitCode.failure }
    }

    private func show(_ step: ProbeStep) throws {
        guard !self.json else {
            try Console.json(
                Line(
                    sink: self.name, step: step.name, outcome: step.outcome.rawValue,
                    text: step.text, fix: step.fix))
            return
        }
        let (word, colour): (String, Console.Colour) =
            switch step.outcome {
            case .worked: ("ok     ", .green)
            case .skipped: ("skipped", .grey)
            case .failed: ("FAILED ", .red)
            }
        let name = step.name + String(repeating: " ", count: max(0, 12 - step.name.count))
        Console.out("\(Console.coloured(word, colour))  \(name)  \(step.text.printable)")
        if let fix = step.fix { Console.out("                       fix: \(fix.printable)") }
    }
}

// `sightline-conformance client`: checks whether a client keeps the contract of docs/clients.md.
internal import ArgumentParser
internal import ClientConformance
internal import ConfigurationKeys
internal import Foundation
internal import WireFormat

/// Runs a client through the scenarios of docs/clients/conformance.md.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Try whether a client keeps the contract of docs/clients.md.",
        discussion: """
            Starts the client once for each scenario, against a server on 127.0.0.1 that cuts, \
            closes, delays, refuses, goes away and comes back full. The client reads events in \
            JSON from its standard input, and prints its results (docs/clients/conformance.md).
            Exit 0: nothing is wrong. 1: something is. 69: the command starts no client. 74: the \
            output cannot be written.
            """)

    @Option(help: "The command that starts the client, for the shell.")
    var client: String?

    @Option(
        name: .customLong("scenario"), help: "A scenario to run; may be repeated. All by default.")
    var names: [String] = []

    @Option(help: "Events in each scenario, \(ConformanceKit.eventCounts.words).")
    var events = 60

    @Option(help: "Scenarios at a time, \(ConformanceKit.jobCounts.words).")
    var jobs = 8

    @Option(
        help: "Seconds that a client may take for a scenario, \(Self.timeouts.words), or as 5m.",
        transform: { try Self.seconds($0) })
    var timeout = 60

    @Flag(help: "List the scenarios.")
    var list = false

    @Flag(help: "Print one line of JSON per scenario.")
    var json = false

    private static let timeouts = 1...600

    func validate() throws {
        if !self.list, self.client == nil {
            throw ValidationError("--client: has to be the command that starts the client")
        }
        try Self.check(self.events, "--events", ConformanceKit.eventCounts)
        try Self.check(self.jobs, "--jobs", ConformanceKit.jobCounts)
        try Self.check(self.timeout, "--timeout", Self.timeouts)
        for name in self.names where !Scenario.all.contains(where: { $0.name == name }) {
            throw ValidationError("--scenario: there is no \(name); --list lists them")
        }
    }

    private static func seconds(_ text: String) throws -> Int {
        guard let seconds = Amount.value(of: text, in: "seconds") else {
            throw ValidationError(
                "it has to be a whole number of seconds\(Amount.examples(in: "seconds")).")
        }
        return seconds
    }

    private static func check(_ value: Int, _ name: String, _ range: ClosedRange<Int>) throws {
        guard !range.contains(value) else { return }
        throw ValidationError("\(name): is \(value), and has to be \(range.words)")
    }

    func run() async throws {
        if self.list {
            let width = Scenario.all.map(\.name.count).max() ?? 0
            for scenario in Scenario.all {
                try Terminal.out(scenario.name.padded(to: width) + "  " + scenario.title)
            }
            return
        }
        let scenarios = Scenario.all.filter {
            self.names.isEmpty || self.names.contains($0.name)
        }
        let kit = ConformanceKit(
            command: self.client ?? "", eventCount: self.events, timeout: .seconds(self.timeout))
        var wrong = 0
        do {
            try await kit.run(scenarios, jobs: self.jobs) { outcome in
                if !outcome.findings.isEmpty { wrong += 1 }
                try self.show(outcome)
            }
        } catch let absence as ClientAbsence {
            throw Terminal.fail(absence, .unavailable)
        }
        if !self.json {
            try Terminal.out(
                "\(scenarios.count - wrong) of \(scenarios.count) scenarios are as docs/clients.md "
                    + "says")
        }
        if wrong > 0 { throw ExitCode.failure }
    }

    /// An outcome in JSON.
    private struct Line: Encodable {
        struct Finding: Encodable {
            let section: String
            let contract: String
            let fault: String
        }

        let scenario: String
        let findings: [Finding]
    }

    private func show(_ outcome: ConformanceKit.Outcome) throws {
        if self.json {
            let findings = outcome.findings.map {
                Line.Finding(section: $0.section, contract: $0.contract, fault: $0.fault)
            }
            try Terminal.json(Line(scenario: outcome.scenario.name, findings: findings))
            return
        }
        let words = "\(outcome.scenario.name): \(outcome.scenario.title)"
        guard !outcome.findings.isEmpty else {
            return try Terminal.out(Terminal.coloured("ok", .green) + "     \(words)")
        }
        try Terminal.out(Terminal.coloured("WRONG  \(words)", .red))
        for finding in outcome.findings {
            try Terminal.out("       \(finding.sentence.printable)")
        }
        if !outcome.errors.isEmpty {
            try Terminal.out("       It said: \(outcome.errors.printable)")
        }
    }
}

extension ClosedRange<Int> {
    fileprivate var words: String { "\(self.lowerBound) to \(self.upperBound)" }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - self.count))
    }
}

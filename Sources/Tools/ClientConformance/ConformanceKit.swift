internal import Foundation
internal import Synchronization

/// Runs a client of anybody's against servers that keep the contract and make it hard, and says in
/// sentences what the client does wrong.
package struct ConformanceKit: Sendable {
    /// How many events a scenario may have: what the client's standard input holds.
    package static let eventCounts = 40...200
    /// How many scenarios may run at a time.
    package static let jobCounts = 1...32
    /// What the client under test has as SIGHTLINE_TOKEN.
    private static let key = "conformance-key"

    private let command: String
    private let eventCount: Int
    private let timeout: Duration

    /// Creates a kit; starts nothing.
    ///
    /// - Parameters:
    ///   - command: starts the client, in the shell.
    ///   - eventCount: the events of each scenario, in `eventCounts`.
    ///   - timeout: how long a client may take for a scenario.
    package init(command: String, eventCount: Int, timeout: Duration) {
        self.command = command
        self.eventCount = eventCount
        self.timeout = timeout
    }

    /// The outcome of a scenario.
    package struct Outcome: Sendable {
        /// The scenario.
        package let scenario: Scenario
        /// What the client did wrong; empty for nothing.
        package let findings: [Finding]
        /// The last that the client said on standard error.
        package let errors: String
    }

    /// Runs scenarios side by side.
    ///
    /// - Parameters:
    ///   - jobs: how many at a time.
    ///   - report: called with the outcome of each, in the order of `scenarios`.
    /// - Throws: `ClientAbsence` if the command starts nothing, or the error of `report`.
    package func run(
        _ scenarios: [Scenario], jobs: Int, _ report: (Outcome) throws -> Void
    ) async throws {
        // A client that ends early must not end the kit by its closed input.
        signal(SIGPIPE, SIG_IGN)
        try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            var started = 0
            func start() {
                guard started < scenarios.count else { return }
                let number = started
                started += 1
                group.addTask { (number, try await self.run(scenarios[number])) }
            }
            for _ in 0..<jobs { start() }
            var done: [Int: Outcome] = [:]
            var reported = 0
            while let (number, outcome) = try await group.next() {
                start()
                done[number] = outcome
                while let next = done.removeValue(forKey: reported) {
                    try report(next)
                    reported += 1
                }
            }
        }
    }

    private func run(_ scenario: Scenario) async throws -> Outcome {
        let count = scenario.hasEvents ? self.eventCount : 0
        let server = ScenarioServer(
            ScenarioState(scenario, eventCount: count), key: Self.key)
        var errors = ""
        try await server.run { target in
            let client = ClientProcess(
                self.command,
                environment: ["SIGHTLINE_TARGET": target, "SIGHTLINE_TOKEN": Self.key])
            let code = try await self.drive(client, scenario, server, count)
            errors = client.lastErrors
            if let code, ClientAbsence.codes.contains(code) {
                throw ClientAbsence(command: self.command, reason: errors)
            }
        }
        let judge = Judge(
            scenario: scenario, ids: (0..<count).map(TestEvent.id), transcript: server.transcript)
        return Outcome(scenario: scenario, findings: judge.findings, errors: errors)
    }

    /// Gives the client its events, and hears what it says; returns its exit code.
    private func drive(
        _ client: ClientProcess, _ scenario: Scenario, _ server: ScenarioServer, _ count: Int
    ) async throws -> Int32? {
        let lines = try (0..<count).map(TestEvent.line)
        let first = scenario.waitsForFirst ? lines.prefix(1) : lines[...]
        let rest = Mutex(Optional(lines.dropFirst(first.count)))
        // Once: `Optional.take` leaves nothing.
        let sendRest: @Sendable () -> Void = {
            guard let lines = rest.withLock({ $0.take() }) else { return }
            client.send(Array(lines))
            client.endInput()
        }
        try client.start()
        client.send(Array(first))
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // A client that says nothing of the first event gets the others all the same; the
                // sleep fails where all is over before.
                if (try? await Task.sleep(for: self.timeout / 2)) != nil { sendRest() }
            }
            async let exit = client.end(within: self.timeout)
            if !scenario.waitsForFirst || count == 0 { sendRest() }
            for await line in client.lines {
                let heard = ClientLine(line)
                server.hear(heard)
                if case .verdict = heard { sendRest() }
            }
            let code = await exit
            group.cancelAll()
            server.noteExit(code)
            return code
        }
    }
}

/// The command started no client.
package struct ClientAbsence: Error, CustomStringConvertible {
    /// What a shell ends with that finds no program, or may not run it.
    static let codes: Set<Int32> = [126, 127]

    let command: String
    let reason: String

    /// What happened, in one line.
    package var description: String { "\(self.command) starts no client: \(self.reason)" }
}

// `sightline top`: the live page in a terminal.
internal import AdminProtocol
internal import ArgumentParser
internal import Foundation
internal import SightlineClient
internal import TrackingReport
internal import WireFormat

/// Shows a server's figures, updated continuously.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch a running server: events, acks, journal, sinks, deliveries.",
        discussion: """
            Draws one screen again and again; without a terminal the screens follow each other.
            Exit 0: --once has shown the figures. 69: the server cannot be asked.
            """)

    @Option(help: "The admin server, HOST:PORT.")
    var admin: String = Defaults.admin

    @OptionGroup var wait: WaitOption

    @Option(
        help: "Seconds between two screens, 0.1 to 3600, as 0.5 or 500ms.",
        transform: AmountOption.fractionalSeconds)
    var interval = 1.0

    @Flag(help: "Show the figures once.")
    var once = false

    @Flag(help: "Print stats.json, one line each time.")
    var json = false

    func validate() throws {
        guard (0.1...3600).contains(self.interval) else {
            throw ValidationError("--interval \(self.interval) is outside 0.1 to 3600.")
        }
        do {
            _ = try ServerAddress(self.admin)
        } catch {
            throw ValidationError("--admin: \("\(error)".printable)")
        }
    }

    func run() async throws {
        let address = try ServerAddress(self.admin)
        do {
            try await self.wait.find(address, option: "--admin")
        } catch let error as AbsentServerError {
            throw Console.fail(error, .unavailable)
        }
        let client = StatisticsClient(address: address)
        var hasAnswered = false
        repeat {
            do {
                let (document, statistics) = try await client.read()
                self.show(document, statistics)
                hasAnswered = true
            } catch let error as AdminServerError {
                // A server that answered before may be restarting; keep trying.
                guard hasAnswered, !self.once else { throw Console.fail(error, .unavailable) }
                self.show(error)
            }
            if !self.once { try await Task.sleep(for: .seconds(self.interval)) }
        } while !self.once
    }

    private func show(_ document: String, _ statistics: Statistics) {
        guard !self.json else {
            Console.out(document)
            return
        }
        let lines = TopScreen(statistics, address: self.admin).lines
        guard !self.once, let size = Console.terminalSize else {
            Console.out(lines.joined(separator: "\n") + (self.once ? "" : "\n"))
            return
        }
        // Overwrite the previous screen, which avoids flicker.
        let shown = lines.prefix(max(1, size.rows - 1)).map { line in
            Console.cut(line, to: size.columns) + "\u{1B}[K\n"
        }
        Console.write("\u{1B}[H" + shown.joined() + "\u{1B}[J", to: STDOUT_FILENO)
    }

    private func show(_ error: AdminServerError) {
        guard !self.json, Console.isOutputTerminal else {
            Console.error("sightline: \(error); asking again")
            return
        }
        let notice = Console.coloured("no answer from \(self.admin), asking again", .red)
        Console.write("\u{1B}[H\(notice)\u{1B}[K\n", to: STDOUT_FILENO)
    }
}

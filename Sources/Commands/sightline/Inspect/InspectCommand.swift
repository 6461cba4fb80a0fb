// `sightline inspect`: finds the mistakes in a payload that break its tracking.
internal import ArgumentParser
internal import Foundation
internal import JSON
internal import PayloadInspector
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// Inspects payloads for problems that would prevent their tracking.
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Say what in a payload would spoil the tracking.",
        discussion: """
            Exit 0: every payload would be tracked. 1: one would not, or makes no sense. 66: a \
            file is missing.
            """)

    @Argument(help: "Payloads in JSON, one per file; - is standard input.")
    var files: [String]

    @Option(help: "Whose payloads they are: ios or android. Without it their shape tells.")
    var platform: PlatformName?

    @Flag(help: "Print one line of JSON per payload.")
    var json = false

    /// A payload's findings as printed with --json.
    private struct Line: Encodable {
        struct Finding: Encodable {
            let severity: String
            let key: String
            let description: String
        }

        let file: String
        let platform: String
        let isPlatformGuessed: Bool
        let tracked: Bool
        let findings: [Finding]
    }

    func validate() throws {
        if self.files.isEmpty {
            throw ValidationError("name at least one file, or - for standard input.")
        }
    }

    func run() throws {
        var isFine = true
        do {
            for file in self.files {
                // Evaluated first, so that every file is inspected.
                let isTracked = try self.inspect(file)
                isFine = isFine && isTracked
            }
        } catch let error as FileReadError {
            throw Console.fail(error, .noInput)
        } catch let error as InputError {
            throw Console.fail(error, .failure)
        }
        if !isFine { throw ExitCode.failure }
    }

    private func inspect(_ file: String) throws -> Bool {
        let data = try InputFile.read(file)
        let payload: PayloadDocument
        do {
            payload = try PayloadReader().document(from: data)
        } catch {
            throw InputError(file: file, reason: "\(error)")
        }
        let platform = try self.platform ?? Self.guess(payload.value, file: file)
        let inspection = PayloadInspector().inspect(payload, platform: platform.platform)
        if self.json {
            try Console.json(self.line(file, platform, inspection))
        } else {
            self.print(file, platform, inspection)
        }
        return inspection.tracked
    }

    private static func guess(_ payload: JSONValue, file: String) throws -> PlatformName {
        if let platform = PayloadForm.platform(of: payload) { return platform }
        throw InputError(
            file: file,
            reason: "the payload's shape does not tell its platform (iOS has `aps`, Android "
                + "`data`, or `_dId` alone); say --platform ios or --platform android")
    }

    private func line(
        _ file: String, _ platform: PlatformName, _ inspection: PayloadInspection
    ) -> Line {
        Line(
            file: file, platform: platform.rawValue, isPlatformGuessed: self.platform == nil,
            tracked: inspection.tracked,
            findings: inspection.findings.map {
                .init(severity: $0.severity.name, key: $0.key, description: $0.description)
            })
    }

    private func print(
        _ file: String, _ platform: PlatformName, _ inspection: PayloadInspection
    ) {
        let tracked =
            inspection.tracked
            ? Console.coloured("tracked", .green) : Console.coloured("not tracked", .red)
        let guessed = self.platform == nil ? ", by its shape" : ""
        Console.out("\(file.printable)  \(tracked)  (\(platform.rawValue)\(guessed))")
        for finding in inspection.findings {
            let key = finding.key.isEmpty ? "payload" : finding.key.printable
            let severity = Console.coloured(finding.severity.name, finding.severity.colour)
            Console.out("  \(severity)  \(key)  \(finding.description.printable)")
        }
    }
}

extension PayloadFinding.Severity {
    fileprivate var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .note: "note"
        }
    }

    fileprivate var colour: Console.Colour {
        switch self {
        case .error: .red
        case .warning: .yellow
        case .note: .grey
        }
    }
}

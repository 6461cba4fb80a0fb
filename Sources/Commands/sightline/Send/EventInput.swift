internal import ArgumentParser
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

extension PlatformName: ExpressibleByArgument {}

/// The input of `send` and `explain`: payloads with --platform and --interaction, or NDJSON events.
struct EventInput: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Payloads in JSON, one per file (with --platform), or events in proto3 JSON, one per \
            line; - is standard input.
            """,
            valueName: "file"))
    var files: [String] = []

    @Option(help: "Read payloads of this platform: ios or android.")
    var platform: PlatformName?

    @Option(
        help: ArgumentHelp(
            """
            What happened to each payload: received, dismissed, opened. Repeat it, or separate by \
            commas, for more than one.
            """,
            valueName: "interaction"))
    var interaction: [String] = []

    @OptionGroup(title: "Events of payloads") var options: EventOptions

    func validate() throws {
        let names = try self.interactions
        if self.platform != nil, names.isEmpty {
            throw ValidationError(
                "--platform needs --interaction: received, dismissed or opened.")
        }
        if self.platform == nil, !names.isEmpty {
            throw ValidationError(
                """
                --interaction needs --platform: ios or android. Without both the files are read \
                as events, one per line.
                """)
        }
        if self.platform == nil, let option = self.options.names.first {
            throw ValidationError(
                """
                \(option) needs --platform and --interaction: events that are read one per line \
                say it themselves.
                """)
        }
        if self.files.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- (standard input) can be read once; name it once.")
        }
    }

    /// The interactions in the order given.
    var interactions: [InteractionName] {
        get throws {
            try self.interaction.flatMap { $0.split(separator: ",") }.map { part in
                let text = part.trimmingCharacters(in: .whitespaces)
                guard let name = InteractionName(rawValue: text) else {
                    throw ValidationError(
                        """
                        --interaction "\(text.printable)" is unknown; it is received, dismissed \
                        or opened.
                        """)
                }
                return name
            }
        }
    }

    /// Checks the files before anything is sent: whether they are readable, and contain what the
    /// options say.
    ///
    /// - Throws: `FileReadError`, `MissingPlatformError`, `WrongPlatformError`.
    func check() throws {
        try InputFile.check(self.files)
        guard let platform else { return try PayloadForm.checkNoPayloads(in: self.files) }
        for file in self.files where file != "-" {
            guard let data = try InputFile.payload(in: file) else { continue }
            try PayloadForm.check(data, file: file, platform: platform)
        }
    }

    /// An event for each payload and interaction, with a new id and the current time.
    ///
    /// - Throws: `InputError`, `FileReadError`.
    func payloadEvents(_ platform: Platform) throws -> [OutgoingEvent] {
        let interactions = try self.interactions
        return try self.files.flatMap { file in
            let data = try InputFile.read(file)
            return try interactions.map { interaction in
                var event: Sightline_V1_TrackingEvent
                do {
                    event = try PayloadReader().event(
                        from: data, platform: platform, interaction: interaction.kind)
                } catch {
                    throw InputError(file: file, reason: "\(error)")
                }
                self.options.apply(to: &event)
                event.eventID = UUID().uuidString.lowercased()
                event.occurTime = Google_Protobuf_Timestamp(date: Date())
                return OutgoingEvent(event, origin: EventOrigin(file: file))
            }
        }
    }
}

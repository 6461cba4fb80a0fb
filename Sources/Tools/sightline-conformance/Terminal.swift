internal import ArgumentParser
internal import Foundation

/// Writes to standard output and standard error, coloured on terminals only.
enum Terminal {
    /// A terminal colour.
    enum Colour: String {
        case red = "31"
        case green = "32"
    }

    private static let hasColour =
        isatty(STDOUT_FILENO) == 1
        && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty

    /// Writes a line to standard output, unbuffered.
    static func out(_ line: String) { Self.write(line, to: .standardOutput) }

    /// Writes a value to standard output as a line of JSON with keys in snake case.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Self.out(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Colours text for standard output if that is a terminal and NO_COLOR is unset or empty.
    static func coloured(_ text: String, _ colour: Colour) -> String {
        Self.hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Prints why a command fails; returns its exit code.
    static func fail(_ error: any Error, _ code: ExitCode) -> ExitCode {
        Self.write("sightline-conformance: \(error)", to: .standardError)
        return code
    }

    /// On an error the line is dropped, because the reader has gone.
    private static func write(_ line: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data((line + "\n").utf8))
    }
}

// Exit codes after sysexits.h, as those of `sightline`.
extension ExitCode {
    /// A file is missing or unreadable.
    static let noInput = ExitCode(66)
    /// Nothing answers, or nothing could be started.
    static let unavailable = ExitCode(69)
}

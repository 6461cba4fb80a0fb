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
    ///
    /// - Throws: the exit code of a command whose output is not taken, which it has told. Without a
    ///   reader that is no failure, and nothing is said of it: the code is that of SIGPIPE.
    static func out(_ line: String) throws(ExitCode) {
        let bytes = Array((line + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                written += count
            } else if errno == EPIPE {
                throw ExitCode(128 + SIGPIPE)
            } else if errno != EINTR {
                throw Self.fail(OutputFailure(code: errno), .inputOutput)
            }
        }
    }

    /// Standard output takes nothing.
    private struct OutputFailure: Error, CustomStringConvertible {
        let code: Int32

        var description: String {
            "the output cannot be written: \(String(cString: strerror(self.code)))"
        }
    }

    /// Writes a value to standard output as a line of JSON with keys in snake case.
    ///
    /// - Throws: as `out`.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try Self.out(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Colours text for standard output if that is a terminal and NO_COLOR is unset or empty.
    static func coloured(_ text: String, _ colour: Colour) -> String {
        Self.hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Prints why a command fails; returns its exit code.
    static func fail(_ error: any Error, _ code: ExitCode) -> ExitCode {
        // Where nobody reads it, the code says it.
        try? FileHandle.standardError.write(
            contentsOf: Data("sightline-conformance: \(error)\n".utf8))
        return code
    }
}

// Exit codes after sysexits.h, as those of `sightline`.
extension ExitCode {
    /// A file is missing or unreadable.
    static let noInput = ExitCode(66)
    /// Nothing answers, or nothing could be started.
    static let unavailable = ExitCode(69)
    /// The output cannot be written.
    static let inputOutput = ExitCode(74)
}

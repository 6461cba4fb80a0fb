// Standard output and standard error, for people and for pipes.
internal import ArgumentParser
internal import Foundation

/// Writes lines, with colour only where a person sees it.
enum Console {
    /// A colour of a terminal.
    enum Colour: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case grey = "90"
    }

    static let isOutputTerminal = isatty(STDOUT_FILENO) == 1
    static let isErrorTerminal = isatty(STDERR_FILENO) == 1
    private static let hasColour: Bool = {
        let isUnwanted = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty }
        return isUnwanted != true
    }()

    /// Writes a line to standard output, at once.
    static func out(_ line: String) {
        Self.write(line + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func error(_ line: String) {
        Self.write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes a value as one line of JSON, its keys in snake case, to standard output.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Self.out(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Text for standard output in a colour, where it is a terminal and NO_COLOR is unset or empty.
    static func coloured(_ text: String, _ colour: Colour) -> String {
        guard self.isOutputTerminal, self.hasColour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// The rows and columns of standard output; nil where it is no terminal.
    static var terminalSize: (rows: Int, columns: Int)? {
        var size = winsize()
        guard self.isOutputTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_row > 0, size.ws_col > 0
        else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// The start of a line that fits into so many columns; colours take none.
    static func cut(_ line: String, to columns: Int) -> String {
        var cut = ""
        var count = 0
        var isInColour = false
        for character in line {
            if character == "\u{1B}" { isInColour = true }
            if !isInColour {
                count += 1
                if count > columns { continue }
            }
            cut.append(character)
            if isInColour, character == "m" { isInColour = false }
        }
        return cut
    }

    /// Says why a command stops.
    static func fail(_ error: any Error, _ code: ExitCode) -> ExitCode {
        Self.error("sightline: \(error)")
        return code
    }

    /// Writes all bytes. What cannot be written has no reader any more, and is dropped.
    static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

internal import ArgumentParser
internal import Foundation
internal import SightlineClient
internal import Storage
internal import TrackingJournal
internal import TrackingReport
internal import WireFormat

/// Writes to standard output and standard error, coloured on terminals only.
enum Console {
    /// A terminal colour.
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

    /// Writes a line to standard output, unbuffered; see `write`.
    static func out(_ line: String) {
        Self.write(line + "\n", to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func error(_ line: String) {
        Self.write(line + "\n", to: STDERR_FILENO)
    }

    /// Writes a value to standard output as a line of JSON with keys in snake case.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Self.out(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Colours text for standard output if that is a terminal and NO_COLOR is unset or empty.
    static func coloured(_ text: String, _ colour: Colour) -> String {
        guard self.isOutputTerminal, self.hasColour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }

    /// The rows and columns of the terminal; nil if standard output is not a terminal.
    static var terminalSize: (rows: Int, columns: Int)? {
        var size = winsize()
        guard self.isOutputTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_row > 0, size.ws_col > 0
        else { return nil }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Truncates a line to a number of columns, not counting colour codes.
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

    /// Prints why a command fails; returns its exit code.
    static func fail(_ error: any Error, _ code: ExitCode) -> ExitCode {
        Self.error("sightline: \(error)")
        return code
    }

    /// Prints why a command's files or its client failed; returns the exit code, or another error
    /// unchanged.
    static func fail(client error: any Error) -> any Error {
        switch error {
        case is FileReadError: return Self.fail(error, .noInput)
        case is InputError: return Self.fail(error, .failure)
        case is MissingPlatformError: return Self.fail(error, .validationFailure)
        case is FileFormatError: return Self.fail(error, .configuration)
        case is AbsentServerError, is AdminSocketError, is DatabaseFileError:
            return Self.fail(error, .unavailable)
        case let error as TrackingClientError:
            switch error {
            case .gaveUp, .unreachable: return Self.fail(error, .unavailable)
            case .refused: return Self.fail(error, .failure)
            }
        case let error as SightlineClientError:
            // Escaped, since it may contain a user's or a server's text.
            Self.error("sightline: \("\(error)".printable)")
            return ExitCode.failure
        default:
            return error
        }
    }

    /// Writes all bytes. Ends the process where standard output does not take them, since what was
    /// cut must not look whole; standard error has nobody to tell, and the rest is dropped.
    static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let code = errno
            switch code {
            case EINTR: continue
            case EAGAIN: Self.wait(for: descriptor)
            default:
                if descriptor == STDOUT_FILENO { ProcessEnd.byOutput(code) }
                return
            }
        }
    }

    /// Another process has made the terminal or the pipe non-blocking.
    private static func wait(for descriptor: Int32) {
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // An error shows in the next write.
        _ = poll(&state, 1, -1)
    }
}

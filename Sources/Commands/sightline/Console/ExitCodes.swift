// Exit codes as in sysexits.h. ArgumentParser itself uses 64 for wrong usage.
internal import ArgumentParser

extension ExitCode {
    /// A file is missing or unreadable.
    static let noInput = ExitCode(66)
    /// The server, or another dependency, is unavailable.
    static let unavailable = ExitCode(69)
    /// The disk failed, or the output could not be written.
    static let inputOutput = ExitCode(74)
    /// The configuration is invalid.
    static let configuration = ExitCode(78)
}

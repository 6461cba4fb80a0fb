// What the commands tell the shell, after sysexits.h. Wrong usage is ArgumentParser's own 64.
internal import ArgumentParser

extension ExitCode {
    /// A file that is missing or cannot be read.
    static let noInput = ExitCode(66)
    /// The server, or something else that is needed, is not there.
    static let unavailable = ExitCode(69)
    /// The disk failed.
    static let inputOutput = ExitCode(74)
    /// The configuration is wrong.
    static let configuration = ExitCode(78)
}

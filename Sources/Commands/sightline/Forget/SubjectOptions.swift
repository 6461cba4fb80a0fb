internal import ArgumentParser
internal import Foundation
internal import TrackingRules
internal import WireFormat

/// Whose id it is: from a file, because other users see arguments in the list of processes, and a
/// shell keeps them in its history; or as an argument, for ids that are nobody's.
struct SubjectOptions: ParsableArguments {
    @Option(
        help: """
            The id of the recipient, as events have it in subject_id. Other users of this machine \
            can see it, and the shell keeps it: prefer --subject-file.
            """)
    var subject: String?

    @Option(help: "A file with the id in its only line; - for standard input.")
    var subjectFile: String?

    func validate() throws {
        guard self.subject == nil || self.subjectFile == nil else { throw Self.choice }
        guard let subject, !Self.isID(subject.utf8.count) else { return }
        throw ValidationError(
            "--subject has \(subject.utf8.count) bytes: an id has 1 to \(Limits.nameBytes).")
    }

    private static let choice = ValidationError("choose one of --subject-file and --subject.")

    /// The id.
    ///
    /// - Throws: `ValidationError` if neither option is there, which is told only after an option
    ///   that does not exist; `FileReadError` if the file cannot be read, `InputError` if it holds
    ///   no id.
    func id() throws -> String {
        if let subject { return subject }
        guard let file = self.subjectFile else { throw Self.choice }
        // An id of the greatest length, and the end of its line.
        guard let data = try InputFile.read(file, upTo: Limits.nameBytes + 2) else {
            throw Self.error(file, "it has more bytes than an id and the end of its line")
        }
        var bytes = [UInt8](data)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard Self.isID(bytes.count) else {
            throw Self.error(file, "its line has \(bytes.count) bytes")
        }
        guard !bytes.contains(UInt8(ascii: "\n")) else {
            throw Self.error(file, "it has more than one line")
        }
        guard bytes.withUnsafeBytes({ $0.isValidUTF8 }) else {
            throw Self.error(file, "its line is not UTF-8")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isID(_ byteCount: Int) -> Bool {
        (1...Limits.nameBytes).contains(byteCount)
    }

    /// Never quotes what the file has: it may be the id.
    private static func error(_ file: String, _ what: String) -> InputError {
        InputError(
            file: file,
            reason: "\(what): give one line with one id of 1 to \(Limits.nameBytes) bytes")
    }
}

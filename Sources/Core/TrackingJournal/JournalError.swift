package import Storage
internal import WireFormat

/// An error of the journal; the cases differ in what an operator has to do.
package enum JournalError: Error, CustomStringConvertible {
    /// Another process uses the data directory.
    case locked(directory: String, holder: String)
    /// The directory or file cannot be used at all.
    case unusable(path: String, reason: String)
    /// A file's format is not this build's: a restart does not help, another build or data
    /// directory does.
    case format(FileFormatError)
    /// SQLite refused a setting that acks depend on.
    case unsafeSetting(name: String, value: String, needed: String)
    /// The disk failed, so that acknowledged data may be missing from it. Never retried.
    case failed(reason: String)

    /// What failed, where, why, and the fix.
    package var description: String {
        switch self {
        case .locked(let directory, let holder):
            "the data directory \(directory) is in use by \(holder): stop it, or choose another "
                + "with --data-dir"
        case .unusable(let path, let reason):
            "cannot use \(path): \(reason). It has to be whole, and writable by this user "
                + "(\(Documentation.page("journal.md")))"
        case .format(let error): "\(error)"
        case .unsafeSetting(let name, let value, let needed):
            "SQLite's \(name) is \(value), but acks are only safe with \(needed): this build of "
                + "SQLite cannot be used"
        case .failed(let reason):
            "the journal's disk failed: \(reason). Nothing unacknowledged is lost by a restart; "
                + "check the disk first"
        }
    }
}

/// An error of the journal; the cases differ in what an operator has to do.
package enum JournalError: Error, CustomStringConvertible {
    /// Another process uses the data directory.
    case locked(directory: String, holder: String)
    /// The directory or file cannot be used at all.
    case unusable(path: String, reason: String)
    /// The file has a newer format or is another program's. It is neither read nor changed.
    case foreign(path: String, reason: String)
    /// SQLite refused a setting that acks depend on.
    case unsafeSetting(name: String, value: String, needed: String)
    /// The disk failed, so that acknowledged data may be missing from it. Never retried.
    case failed(reason: String)

    /// Whether a file belongs to another program or version: a restart does not help, another
    /// configuration or program does.
    package var isForeign: Bool {
        if case .foreign = self { true } else { false }
    }

    /// What failed, where, why, and the fix.
    package var description: String {
        switch self {
        case .locked(let directory, let holder):
            "the data directory \(directory) is in use by \(holder): stop it, or choose another "
                + "with --data-dir"
        case .unusable(let path, let reason):
            "cannot use \(path): \(reason). It has to be whole, and writable by this user "
                + "(docs/journal.md)"
        case .foreign(let path, let reason):
            "cannot use \(path): \(reason). Nothing of it was changed: start the program "
                + "that wrote it, or move the file away (docs/upgrading.md)"
        case .unsafeSetting(let name, let value, let needed):
            "SQLite's \(name) is \(value), but acks are only safe with \(needed): this build of "
                + "SQLite cannot be used"
        case .failed(let reason):
            "the journal's disk failed: \(reason). Nothing unacknowledged is lost by a restart; "
                + "check the disk first"
        }
    }
}

// What can go wrong with the journal, told apart by what has to follow.

/// An error of the journal.
package enum JournalError: Error, CustomStringConvertible {
    /// Another process uses the data directory.
    case locked(directory: String, holder: String)
    /// The directory or file cannot be used at all.
    case unusable(path: String, reason: String)
    /// The file is of a newer format, or another program's: it is neither read nor written over.
    case foreign(path: String, reason: String)
    /// SQLite did not take a setting that an ack rests on.
    case unsafeSetting(name: String, value: String, needed: String)
    /// The disk failed: what was promised to be on it may not be. Never retried.
    case failed(reason: String)

    /// Whether a file is not this program's to use: another configuration or program helps, and a
    /// restart does not.
    package var isForeign: Bool {
        if case .foreign = self { true } else { false }
    }

    /// What, where, why, and what to do.
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

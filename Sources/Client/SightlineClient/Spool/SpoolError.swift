/// Why a spool cannot be opened or written.
public enum SpoolError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another client has the directory open.
    case locked(directory: String)
    /// A file that was synced has no complete record at this byte.
    case damaged(file: String, byte: Int)
    /// A call of the file system failed.
    case failed(operation: String, file: String, reason: String)

    /// What, where, and the fix.
    public var description: String {
        switch self {
        case .locked(let directory):
            return "the spool \(directory) belongs to another client; each needs a directory of "
                + "its own"
        case .damaged(let file, let byte):
            return "the spool's file \(file) is damaged at byte \(byte), though later events of it "
                + "were written; move the file away to go on without the rest of it"
        case .failed(let operation, let file, let reason):
            return "the spool cannot \(operation) \(file): \(reason)"
        }
    }
}

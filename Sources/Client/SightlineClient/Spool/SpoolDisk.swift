/// The files of a spool's directory, which are named by numbers. The tests substitute a disk that
/// loses what was not synced.
package protocol SpoolDisk: Sendable {
    /// The numbers of the files, in order.
    func segments() throws(SpoolError) -> [UInt64]

    /// The contents of a file.
    func contents(of segment: UInt64) throws(SpoolError) -> [UInt8]

    /// Opens a file that exists.
    func open(_ segment: UInt64) throws(SpoolError) -> any SpoolFile

    /// Creates an empty file, and syncs its name. An existing one is emptied.
    func create(_ segment: UInt64) throws(SpoolError) -> any SpoolFile

    /// Removes a file.
    func remove(_ segment: UInt64) throws(SpoolError)

    /// The numbers of the segments that have a file of marks, in order.
    func marked() throws(SpoolError) -> [UInt64]

    /// The contents of a segment's file of marks.
    func marks(of segment: UInt64) throws(SpoolError) -> [UInt8]

    /// Writes at a byte of a segment's file of marks, which is created, with its magic, if it does
    /// not exist; if it throws, the file may contain some of the bytes.
    func write(_ marks: [UInt8], at byte: Int, toMarksOf segment: UInt64) throws(SpoolError)

    /// Returns once a segment's marks are durable.
    func syncMarks(of segment: UInt64) throws(SpoolError)

    /// Removes a segment's file of marks.
    func removeMarks(of segment: UInt64) throws(SpoolError)

    /// Returns once it is durable which files exist.
    func syncNames() throws(SpoolError)

    /// The path of a file, for errors.
    func path(of segment: UInt64) -> String
}

/// A file of a spool. It is closed with the last reference to it.
package protocol SpoolFile: Sendable {
    /// Appends all bytes; if it throws, the file may contain some of them.
    func append(_ bytes: [UInt8]) throws(SpoolError)

    /// Truncates it to a number of bytes.
    func truncate(to byteCount: Int) throws(SpoolError)

    /// Returns once everything written is durable.
    func sync() throws(SpoolError)
}

// A file that the user named and that cannot be read.

/// Why a file could not be read.
package struct FileReadError: Error, Sendable, CustomStringConvertible {
    /// The file as the user named it.
    package let file: String
    /// The system's reason.
    package let reason: String

    /// A failure at one file.
    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    /// Names the file, the reason and the fix.
    package var description: String {
        "cannot read \(self.file.printable): \(self.reason); check the path and its permissions"
    }
}

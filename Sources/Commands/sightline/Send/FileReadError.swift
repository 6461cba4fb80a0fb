internal import TrackingReport
internal import WireFormat

/// A file could not be read.
package struct FileReadError: Error, Sendable, CustomStringConvertible {
    /// The file as the user named it.
    package let file: String
    /// The system's error message.
    package let reason: String

    /// Creates an error.
    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    /// The file, the reason and the fix.
    package var description: String {
        "cannot read \(self.file.printable): \(self.reason); check the path and its permissions"
    }
}

internal import TrackingReport
internal import WireFormat

/// An input file is readable but invalid.
package struct InputError: Error, CustomStringConvertible {
    private let file: String
    private let reason: String

    /// Says what is wrong with a file, and the fix.
    package init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    /// The file and the reason.
    package var description: String { "\(self.file.printable): \(self.reason)" }
}

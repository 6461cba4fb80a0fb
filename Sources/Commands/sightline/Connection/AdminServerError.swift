internal import TrackingReport
internal import WireFormat

/// The admin server did not answer, or its answer is unusable.
package struct AdminServerError: Error, CustomStringConvertible {
    private let url: String
    private let reason: String

    init(_ url: String, _ reason: String) {
        self.url = url
        self.reason = reason
    }

    /// What is wrong, and the fix.
    package var description: String {
        "no answer from \(self.url): \(self.reason.printable). Name the admin server that "
            + "`sightline serve` says it has, with --admin HOST:PORT"
    }
}

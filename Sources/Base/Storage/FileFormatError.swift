internal import WireFormat

/// A file has a format that this build neither reads nor writes. The file was not changed.
package struct FileFormatError: Error, Equatable, CustomStringConvertible {
    /// What the file has instead of a known format.
    package enum Found: Equatable, Sendable {
        /// A build from before formats were numbered from 1 wrote it; nil if it has no number.
        case former(Int?)
        /// A newer build wrote it: the number, and the build's name if the file has it.
        case newer(Int, program: String? = nil)
        /// Another program wrote it, or its beginning is damaged: the finding, as a predicate.
        case unknown(String)
    }

    /// The file's path.
    package let path: String
    /// What was found instead.
    package let found: Found
    /// The newest format that this build knows.
    package let known: Int

    /// Creates the error for the file at `path`; this build knows formats up to `known`.
    package init(path: String, _ found: Found, known: Int) {
        (self.path, self.found, self.known) = (path, found, known)
    }

    /// What, where, why, and the fix.
    package var description: String {
        "\(self.path) \(self.reason). Nothing of it was changed: \(self.fix) "
            + "(\(Documentation.page("upgrading.md")))"
    }

    private var reason: String {
        let limit = "this build knows formats up to \(self.known)"
        return switch self.found {
        case .former(let number):
            (number.map { "has format \($0)" } ?? "has no format number")
                + " of a build before formats were numbered from 1, and \(limit)"
        case .newer(let number, let program):
            "has format \(number), and \(limit): \(program ?? "a newer build") wrote it"
        case .unknown(let predicate): "\(predicate), and \(limit)"
        }
    }

    private var fix: String {
        switch self.found {
        case .former: "start with an empty data directory, or move this one away"
        case .newer:
            "run the build that wrote it, or move the file away, a database together with its "
                + "-wal and -shm"
        case .unknown: "move the file away"
        }
    }
}

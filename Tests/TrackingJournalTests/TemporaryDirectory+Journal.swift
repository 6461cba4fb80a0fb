internal import Foundation
internal import TestSupport

extension TemporaryDirectory {
    /// Where the journal lies.
    var journal: String { self.file("journal") }

    /// One of the journal's files.
    func journalFile(_ name: String) -> URL { URL(filePath: self.journal + "/" + name) }
}

// A directory of a test's own.
internal import Foundation

/// A fresh directory, removed with everything in it once nobody holds it.
final class TemporaryDirectory: Sendable {
    let path: String

    /// Where a directory lies.
    enum Place {
        case disk
        /// In memory where the system has a place for that: for tests that open thousands of files,
        /// and look at what is read from them rather than at what reaches a disk.
        case memory
    }

    init(_ place: Place = .disk) throws {
        let memory = "/dev/shm"
        let isInMemory = place == .memory && FileManager.default.isWritableFile(atPath: memory)
        let parent =
            isInMemory ? URL(filePath: memory) : FileManager.default.temporaryDirectory
        self.path = parent.appending(path: "sightline-tests-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be removed is left to the system: no test rests on it.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Where the journal lies.
    var journal: String { self.path + "/journal" }

    /// One of the journal's files.
    func journalFile(_ name: String) -> URL { URL(filePath: self.journal + "/" + name) }
}

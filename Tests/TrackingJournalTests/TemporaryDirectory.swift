// A directory of a test's own.
internal import Foundation

/// A new directory, removed with its contents when the last reference goes.
final class TemporaryDirectory: Sendable {
    let path: String

    /// Where the directory is created.
    enum Place {
        case disk
        /// In memory if the system supports it: for tests that open thousands of files and do not
        /// depend on durability.
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
        // The system cleans up what cannot be removed.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// Where the journal lies.
    var journal: String { self.path + "/journal" }

    /// One of the journal's files.
    func journalFile(_ name: String) -> URL { URL(filePath: self.journal + "/" + name) }
}

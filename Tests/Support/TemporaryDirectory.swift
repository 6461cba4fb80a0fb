internal import Foundation

/// A fresh directory of a test's own, removed with everything in it once nobody holds it.
package final class TemporaryDirectory: Sendable {
    /// Where it is.
    package let path: String

    /// What a directory lies on.
    package enum Place {
        /// The system's place for temporary files.
        case disk
        /// Memory where the system has a place for that: for tests that open thousands of files,
        /// and look at what is read from them rather than at what reaches a disk.
        case memory
    }

    /// Makes it.
    package init(_ place: Place = .disk) throws {
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

    /// A path in it.
    package func file(_ name: String) -> String { self.path + "/" + name }
}

// A directory of a test's own.
internal import Foundation

/// A fresh directory, removed with everything in it once nobody holds it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let name = "sightline-tests-\(UUID().uuidString)"
        self.path = FileManager.default.temporaryDirectory.appending(path: name).path
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true)
    }

    deinit {
        // What cannot be removed is left to the system: no test rests on it.
        try? FileManager.default.removeItem(atPath: self.path)
    }

    /// A path in it.
    func file(_ name: String) -> String { self.path + "/" + name }
}

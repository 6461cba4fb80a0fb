// A directory of its own for each test that needs files.
internal import Foundation

enum TestDirectory {
    /// Runs `body` with the path of a new directory, and removes it afterwards.
    static func with<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let path = NSTemporaryDirectory() + "sightline-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // It is temporary: what cannot be removed is the system's to clean.
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }
}

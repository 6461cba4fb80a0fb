// The vendors' sample payloads, read from the tests' own folder.

internal import Foundation

/// Files of Tests/Fixtures.
enum Fixtures {
    /// The bytes of a file.
    static func data(_ name: String, from file: String = #filePath) throws -> Data {
        let tests = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: "Fixtures").appending(path: name))
    }
}

package import Foundation

/// Files of Tests/Fixtures: the vendors' sample payloads, and tables.
package enum Fixtures {
    /// The bytes of a file.
    package static func data(_ name: String) throws -> Data {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: "Fixtures").appending(path: name))
    }

    /// The lines of a file, without empty ones.
    package static func lines(_ name: String) throws -> [String] {
        String(decoding: try self.data(name), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }
}

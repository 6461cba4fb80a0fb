// The vendors' sample payloads and tables, read from the tests' own folder.

internal import Foundation
internal import TrackingCore

/// Files of Tests/Fixtures.
enum Fixtures {
    /// The bytes of a file.
    static func data(_ name: String, from file: String = #filePath) throws -> Data {
        let tests = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
        return try Data(contentsOf: tests.appending(path: "Fixtures").appending(path: name))
    }

    /// The lines of a file, without empty ones.
    static func lines(_ name: String) throws -> [String] {
        String(decoding: try self.data(name), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// A file that holds JSON, as a value.
    static func json(_ name: String) throws -> JSONValue {
        try JSONValue(payload: Array(try self.data(name)))
    }

    /// JSON written in a test, as a value.
    static func json(text: String) throws -> JSONValue {
        try JSONValue(payload: Array(text.utf8))
    }
}

internal import TestSupport
internal import TrackingCore

extension Fixtures {
    /// A file that holds JSON, as a value.
    static func json(_ name: String) throws -> JSONValue {
        try JSONValue(payload: Array(try self.data(name)))
    }

    /// JSON written in a test, as a value.
    static func json(text: String) throws -> JSONValue {
        try JSONValue(payload: Array(text.utf8))
    }
}

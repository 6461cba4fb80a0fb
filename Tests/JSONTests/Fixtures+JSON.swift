internal import JSON
internal import TestSupport

extension Fixtures {
    /// JSON written in a test, as a value.
    static func json(text: String) throws -> JSONValue {
        try JSONValue(payload: Array(text.utf8))
    }
}

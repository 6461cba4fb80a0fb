package enum TestDirectory {
    /// Runs `body` with the path of a new directory, and removes it afterwards.
    package static func with<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        return try await body(directory.path)
    }
}

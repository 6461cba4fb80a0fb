// A part of a running server that takes a new configuration.

/// Prepares a change, which may fail, and makes it, which may not: so a reload happens whole or
/// not at all.
package struct Reloadable: Sendable {
    /// What is reloaded, for the log: "API keys".
    let name: String
    /// Reads and checks all that is needed; what it returns puts it in force, and is only called
    /// when every part is prepared.
    let prepare: @Sendable (ServerConfiguration) async throws -> @Sendable () -> Void

    /// A part.
    ///
    /// - Parameters:
    ///   - name: what is reloaded, for the log, as in `API keys`.
    ///   - prepare: reads and checks all that is needed, and throws where it cannot be used; an
    ///     error's description may hold no secret. Returns what puts it in force.
    package init(
        _ name: String,
        prepare:
            @escaping @Sendable (ServerConfiguration) async throws -> @Sendable () -> Void
    ) {
        self.name = name
        self.prepare = prepare
    }
}

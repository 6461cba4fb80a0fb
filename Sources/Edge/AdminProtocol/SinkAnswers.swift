/// What the admin socket answers to `POST /sinks/NAME/pause` and `resume`.
package struct SinkPauseAnswer: Codable, Sendable {
    /// The sink's name.
    package let name: String
    /// Whether it is paused now.
    package let isPaused: Bool

    /// The state of a sink.
    package init(name: String, isPaused: Bool) {
        self.name = name
        self.isPaused = isPaused
    }
}

/// What the admin socket answers to `POST /sinks/NAME/forget`.
package struct SinkForgottenAnswer: Codable, Sendable {
    /// The sink's name.
    package let name: String

    /// Of a sink whose place in the journal is forgotten.
    package init(name: String) { self.name = name }
}

/// The rules' configurable choices.
package struct Policy: Sendable, Equatable {
    /// Whether unspecified consent counts as opted in (D22).
    package var trackUnspecifiedConsent = true
    /// Whether test messages are recorded (D28).
    package var recordTestMessages = false

    /// Creates the default policy.
    package init() {}
}

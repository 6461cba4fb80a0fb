// What an operator decides about the rules.

/// The configurable part of the rules.
package struct Policy: Sendable, Equatable {
    /// Whether an event that says nothing of consent counts as opted in (D22).
    package var trackUnspecifiedConsent = true
    /// Whether test messages are recorded (D28).
    package var recordTestMessages = false

    /// Every value at its default.
    package init() {}
}

public import SightlineProtos

/// The final verdict on an event.
public struct SettledEvent: Sendable {
    /// The number of its ticket.
    public let number: UInt64
    /// The server's result.
    public let result: Sightline_V1_EventResult
}

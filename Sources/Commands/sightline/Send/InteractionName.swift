package import SightlineProtos

/// The names of interactions on the command line.
package enum InteractionName: String, CaseIterable, Sendable {
    /// It reached the device.
    case received
    /// The recipient cleared it.
    case dismissed
    /// The recipient tapped it.
    case opened

    /// The interaction as events have it.
    package var kind: Sightline_V1_PushInteractionKind {
        switch self {
        case .received: .received
        case .dismissed: .dismissed
        case .opened: .opened
        }
    }
}

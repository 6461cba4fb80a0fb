/// What a credential may do beyond recording, explaining and inspecting events.
package enum Scope: String, Sendable, CaseIterable {
    /// See the verdicts on its tenant's events as they are given.
    case tap
    /// See personal data in those events.
    case unmask
    /// Forget its tenant's recipients.
    case erase
    /// Put totals of its tenant's deliveries.
    case deliveries
}

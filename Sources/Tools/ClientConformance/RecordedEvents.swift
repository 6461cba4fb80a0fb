internal import SightlineProtos

/// What the server has recorded, and what it says of each event. A fact counts once, as with the
/// real server.
struct RecordedEvents: Sendable {
    private let rule: VerdictRule
    private var recorded: Set<Int> = []
    private var refusals: [Int: Int] = [:]

    init(_ rule: VerdictRule) { self.rule = rule }

    /// Judges an event, and records it if it is accepted.
    mutating func judge(_ number: Int?) -> Sightline_V1_Verdict {
        // Nobody gave it to the client: what matters is that it came at all.
        guard let number else { return .accepted }
        if self.recorded.contains(number) { return .duplicate }
        let verdict = self.rule.verdict(
            number: number, refusals: self.refusals[number, default: 0])
        if verdict == .retryLater { self.refusals[number, default: 0] += 1 }
        if verdict == .accepted { self.recorded.insert(number) }
        return verdict
    }
}

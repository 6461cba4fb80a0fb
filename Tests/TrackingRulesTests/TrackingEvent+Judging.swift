// What the rules say of an event that a test has made.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
@testable internal import TrackingRules

extension Sightline_V1_TrackingEvent {
    /// What the rules say of the event.
    func judged(by rules: RuleSet = RuleSet()) throws -> Judgement {
        var steps = NoSteps()
        return try self.judged(by: rules, steps: &steps)
    }

    /// What the rules say of the event, with the steps.
    func judged(by rules: RuleSet, steps: inout some Steps) throws -> Judgement {
        let bytes = try self.bytes()
        return try bytes.withUnsafeBytes { bytes in
            rules.judge(try EventView(bytes), receiveTime: Self.now, steps: &steps)
        }
    }
}

extension Policy {
    /// The default policy, changed.
    static func with(_ change: (inout Policy) -> Void) -> Policy {
        var policy = Policy()
        change(&policy)
        return policy
    }
}

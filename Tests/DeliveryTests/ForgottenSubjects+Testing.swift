internal import Delivery
internal import SinkKit
internal import TrackingRules

extension ForgottenSubjects {
    /// Those among whom a subject is.
    static func of(_ subject: Subject) -> ForgottenSubjects {
        let forgotten = ForgottenSubjects(key: [7])
        forgotten.insert(forgotten.hashes(of: subject))
        return forgotten
    }
}

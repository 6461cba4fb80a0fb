/// What became of a subject in one place where its hits may be.
package struct Erasure: Sendable, Equatable, Codable {
    /// What was done.
    package enum Outcome: String, Sendable, Codable {
        /// What was there of it is deleted, or its id is overwritten.
        case erased
        /// The receivers of the hits are told, and have to do the rest.
        case told
        /// Nothing can be done here; the reason says what it means.
        case impossible
        /// It failed: forget the subject again once the reason is gone.
        case failed
    }

    /// What was done.
    package let outcome: Outcome
    /// The hits or events that were erased.
    package let count: Int
    /// Why it is impossible or has failed, or what remains; else empty.
    package let reason: String

    /// Erased hits or events, and what remains.
    package static func erased(_ count: Int, except reason: String = "") -> Erasure {
        Erasure(outcome: .erased, count: count, reason: reason)
    }

    /// The receivers are told.
    package static let told = Erasure(outcome: .told, count: 0, reason: "")

    /// Nothing can be done.
    package static func impossible(_ reason: String) -> Erasure {
        Erasure(outcome: .impossible, count: 0, reason: reason)
    }

    /// It failed.
    package static func failed(_ reason: String) -> Erasure {
        Erasure(outcome: .failed, count: 0, reason: reason)
    }
}

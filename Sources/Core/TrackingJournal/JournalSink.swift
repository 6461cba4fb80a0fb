// A sink as the journal knows it: what is kept for it, and where a new one begins.

/// What the journal keeps for a sink.
package struct JournalSink: Sendable, Equatable {
    /// Its name, under which its cursor is stored.
    package let name: String
    /// The undelivered payload that is kept for it, in bytes; beyond it the oldest groups go. Nil
    /// for a required sink, which holds back every group that it does not have.
    package let maxLagBytes: Int?
    /// Where it begins if it has no cursor yet.
    package let start: Start
    /// How long a group is kept after this sink has it, as its backend may lose it again; the
    /// journal's own `retainSeconds` if those are more.
    package var retention = Duration.zero

    /// Where a new sink begins.
    package enum Start: String, CaseIterable, Sendable {
        /// With the oldest group that is kept.
        case oldest
        /// With the next group.
        case newest
    }

    /// Whether no group goes before this sink has it.
    package var isRequired: Bool { self.maxLagBytes == nil }

    /// Describes a sink; a required one by default.
    package init(_ name: String, maxLagBytes: Int? = nil, start: Start = .oldest) {
        self.name = name
        self.maxLagBytes = maxLagBytes
        self.start = start
    }
}

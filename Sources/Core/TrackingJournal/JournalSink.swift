/// A sink as the journal knows it: which groups are kept for it, and where a new one begins.
package struct JournalSink: Sendable, Equatable {
    /// Its name, under which its cursor is stored.
    package let name: String
    /// The maximum undelivered payload that is kept for it, in bytes; beyond it the oldest groups
    /// are released. Nil for a required sink: every group is kept until it has confirmed it.
    package let maxLagBytes: Int?
    /// Where it begins if it has no cursor.
    package let start: Start
    /// How long a group is kept after this sink has confirmed it, since its backend may lose it; at
    /// least the journal's own `retainSeconds`.
    package var retention = Duration.zero

    /// Where a new sink begins.
    package enum Start: String, CaseIterable, Sendable {
        /// With the oldest group that is kept.
        case oldest
        /// With the next group.
        case newest
    }

    /// Whether groups are kept until this sink has confirmed them.
    package var isRequired: Bool { self.maxLagBytes == nil }

    /// Describes a sink; a required one by default.
    package init(_ name: String, maxLagBytes: Int? = nil, start: Start = .oldest) {
        self.name = name
        self.maxLagBytes = maxLagBytes
        self.start = start
    }
}

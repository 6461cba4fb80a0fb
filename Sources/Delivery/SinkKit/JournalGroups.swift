/// The journal's groups, for a sink that has to prove what its backend says of them.
package struct JournalGroups: Sendable {
    /// The journal's id, which a restored journal gets anew.
    package let identity: String
    /// The sequence of the journal's newest group.
    package let newest: @Sendable () -> Int64
    /// Returns the hits of a group that the sink gets; nil if the journal does not have the group,
    /// or cannot read it. Never waits for a commit.
    package let group: @Sendable (_ sequence: Int64) async -> HitBatch?

    /// Creates the groups of a journal.
    package init(
        identity: String, newest: @escaping @Sendable () -> Int64,
        group: @escaping @Sendable (_ sequence: Int64) async -> HitBatch?
    ) {
        self.identity = identity
        self.newest = newest
        self.group = group
    }
}

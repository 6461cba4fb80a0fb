// Groups whose clients wait for the sinks: what `journal.mode: off` keeps in place of a file.
internal import DequeModule
internal import Synchronization

/// Groups in order.
final class UndeliveredGroups: Sendable {
    private let groups = Mutex<Deque<Group>>([])

    /// One group, with its batch's sequence.
    struct Group {
        let sequence: Int64
        let submissions: [Journal.Submission]
    }

    func append(_ group: Group) { self.groups.withLock { $0.append(group) } }

    /// Takes the groups up to a sequence; all of them where none is given.
    func take(through sequence: Int64 = .max) -> [Group] {
        self.groups.withLock { groups in
            let count = groups.prefix { $0.sequence <= sequence }.count
            defer { groups.removeFirst(count) }
            return Array(groups.prefix(count))
        }
    }
}

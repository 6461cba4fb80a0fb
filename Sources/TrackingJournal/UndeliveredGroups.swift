// Groups whose clients wait for the sinks: what `journal.mode: off` keeps in place of a file.

/// Groups in order, each with its batch's sequence. Touched on the journal's queue alone, which is
/// what `@unchecked Sendable` rests on.
final class UndeliveredGroups: @unchecked Sendable {
    private var groups = Queue<(sequence: Int64, group: [Journal.Submission])>()

    func append(_ group: [Journal.Submission], sequence: Int64) {
        self.groups.append((sequence, group))
    }

    /// Takes the groups up to a sequence.
    func take(through sequence: Int64) -> [Journal.Submission] {
        var taken: [Journal.Submission] = []
        while let first = self.groups.first, first.sequence <= sequence {
            taken += first.group
            self.groups.removeFirst()
        }
        return taken
    }

    /// Takes every group.
    func takeAll() -> [Journal.Submission] { self.take(through: .max) }
}

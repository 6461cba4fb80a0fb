internal import Pacing
internal import TrackingRules

/// The requests that wait for a commit, from which groups are made. Usually all that have arrived
/// fit into the next group, and form it in the order of their arrival. What does not fit waits in
/// turns: by tenant, and then by stream, so that a tenant's single event is in the next group,
/// whatever others have waiting.
struct GroupQueue {
    private var turns = Turns<Journal.Submission>()

    /// Whether nothing is left of earlier groups.
    var isEmpty: Bool { self.turns.isEmpty }

    /// The next group: of what is left and of what has arrived, up to a limit, which its last
    /// submission may exceed.
    mutating func takeGroup(
        adding arrived: [Journal.Submission], upTo maxBytes: Int
    ) -> [Journal.Submission] {
        if self.isEmpty, arrived.dropLast().reduce(0, { $0 &+ $1.groupBytes }) <= maxBytes {
            return arrived
        }
        for submission in arrived {
            self.turns.append(submission, in: submission.line, cost: submission.groupBytes)
        }
        var group: [Journal.Submission] = []
        var bytes = 0
        while bytes <= maxBytes, let submission = self.turns.popFirst() {
            bytes &+= submission.groupBytes
            group.append(submission)
        }
        return group
    }
}

extension Journal.Submission {
    /// The line of its tenant's stream. Its receiver stands for the stream, and lives as long.
    fileprivate var line: TurnLine {
        TurnLine(
            tenant: self.requests.first.map { Array($0.ledger.tenant.utf8) } ?? [],
            stream: ObjectIdentifier(self.receiver))
    }
}

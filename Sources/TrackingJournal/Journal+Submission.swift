// What a group is made of, and how its clients are told.
internal import TrackingCore

extension Journal.Submission {
    /// The bytes that the requests take in the journal.
    var journalBytes: Int { self.requests.reduce(0) { $0 &+ $1.journalBytes } }

    /// The bytes that count towards the limit of a group: refused events have no hits, but rows of
    /// the ledger.
    var groupBytes: Int {
        self.requests.reduce(self.journalBytes) { $0 &+ $1.refusals.count &* Self.refusalBytes }
    }

    /// About a row of the ledger.
    private static let refusalBytes = 96

    /// Whether it has refused events, which the ledger counts.
    var isCounted: Bool { self.requests.contains { !$0.refusals.isEmpty } }
}

extension [Journal.Submission] {
    /// Tells the clients that their requests are settled, then that the commit is over.
    func settle(at time: Int64, isToRetry: Bool = false) {
        for submission in self {
            for request in submission.requests {
                if isToRetry { request.isToRetry = true }
                request.settleTime = time
            }
            submission.receiver.settled(submission.requests)
        }
        var last: (any SettlementReceiver)?
        for submission in self where submission.receiver !== last {
            last = submission.receiver
            submission.receiver.commitEnded()
        }
    }
}

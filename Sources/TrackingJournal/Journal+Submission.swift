// What a group is made of, and how its clients are told.
internal import TrackingCore

extension Journal.Submission {
    /// The bytes that the requests take in the journal.
    var journalBytes: Int { self.requests.reduce(0) { $0 &+ $1.journalBytes } }
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

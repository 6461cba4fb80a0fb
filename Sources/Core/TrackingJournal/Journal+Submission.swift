// What a group is made of, and how its requests are settled.
internal import TrackingRules

extension Journal {
    /// Requests that were submitted together. Their sizes are added up by the caller, not on the
    /// journal's queue.
    struct Submission {
        let requests: [AdmittedRequest]
        let receiver: any SettlementReceiver
        /// The bytes that the requests take in the journal.
        let journalBytes: Int
        /// The events that the rules refused, which the ledger counts.
        let refusals: Int

        init(requests: [AdmittedRequest], receiver: any SettlementReceiver) {
            self.requests = requests
            self.receiver = receiver
            var (journalBytes, refusals) = (0, 0)
            for request in requests {
                journalBytes &+= request.journalBytes
                refusals &+= request.refusals.count
            }
            (self.journalBytes, self.refusals) = (journalBytes, refusals)
        }

        /// The bytes that count towards the limit of a group: refused events have no hits, but rows
        /// of the ledger.
        var groupBytes: Int { self.journalBytes &+ self.refusals &* Self.refusalBytes }

        /// About a row of the ledger.
        private static let refusalBytes = 96
    }
}

extension [Journal.Submission] {
    /// Reports the requests to their receivers as settled, then the end of the commit.
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

// What a group is made of, and how its clients are told.
internal import TrackingRules

extension Journal {
    /// Requests that came together. They are added up by whoever brings them, and not in the
    /// journal's turn.
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

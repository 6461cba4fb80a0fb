internal import TrackingCore

extension Journal.Submission {
    /// The bytes that the requests take in the journal.
    var journalBytes: Int { self.requests.reduce(0) { $0 &+ $1.journalBytes } }

    /// Marks every request to be sent again, because nothing of them was kept.
    func markToRetry() {
        for request in self.requests { request.isToRetry = true }
    }
}

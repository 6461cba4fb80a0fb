// What a group is made of.
internal import TrackingCore

extension Journal.Submission {
    /// Bytes that the journal will keep of its requests.
    var journalBytes: Int { self.requests.reduce(0) { $0 &+ $1.journalBytes } }

    /// Nothing of its requests was kept.
    func markToRetry() {
        for request in self.requests { request.isToRetry = true }
    }
}

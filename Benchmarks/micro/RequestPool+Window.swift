// The duplicate window by itself.
internal import TrackingJournal
internal import TrackingRules

extension RequestPool {
    /// Settles new facts in a window of 2 million with room.
    func settleNew(_ iterations: Int) -> Int {
        self.settle(self.requests[..<iterations], in: DeduplicationWindow(capacity: 2_000_000))
    }

    /// Settles facts that the window knows.
    func settleKnown(_ iterations: Int) -> Int {
        let window = DeduplicationWindow(capacity: 2_000_000)
        let known = self.requests[..<Self.settledBefore]
        _ = self.settle(known, in: window)
        return (0..<iterations).reduce(0) { sum, number in
            let place = number % Self.settledBefore
            return sum + self.settle(known[place...place], in: window)
        }
    }

    /// Settles new facts in a window that is full.
    func settleFull(_ iterations: Int) -> Int {
        let window = DeduplicationWindow(capacity: Self.settledBefore * self.events)
        _ = self.settle(self.requests[..<Self.settledBefore], in: window)
        return self.settle(
            self.requests[Self.settledBefore..<Self.settledBefore + iterations], in: window)
    }

    private func settle(_ requests: ArraySlice<AdmittedRequest>, in window: DeduplicationWindow)
        -> Int
    {
        var changes: [DeduplicationWindow.Change] = []
        changes.reserveCapacity(self.events * 2)
        var changed = 0
        for request in requests {
            window.settle(&request.acceptedEvents, changes: &changes)
            changed += changes.count
            changes.removeAll(keepingCapacity: true)
        }
        return changed
    }
}

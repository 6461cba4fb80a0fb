internal import TrackingCore

extension AdmittedRequest {
    /// Appends the request's block, with granted events only; returns the number of those events
    /// and of their hits.
    func appendSealed(to payload: inout [UInt8]) -> (events: Int, hits: Int) {
        var (granted, hits) = (0, 0)
        var isUnchanged = true
        for claim in self.claims {
            if !claim.granted.isEmpty { granted += 1 }
            hits += claim.granted.rawValue.nonzeroBitCount
            guard claim.isChanged else { continue }
            isUnchanged = false
            self.seal(claim)
        }
        if granted == 0 { return (0, 0) }
        if isUnchanged {
            payload.append(contentsOf: self.header)
            payload.append(contentsOf: self.entries)
            return (granted, hits)
        }
        let start = payload.count
        payload.append(contentsOf: self.header)
        self.entries.withUnsafeBytes { entries in
            for claim in self.claims where !claim.granted.isEmpty {
                payload.append(contentsOf: HitBlock.entry(at: claim.entryOffset, in: entries))
            }
        }
        HitBlock.setEntries(
            count: granted, bytes: payload.count - start - self.header.count, in: &payload,
            at: start)
        return (granted, hits)
    }
}

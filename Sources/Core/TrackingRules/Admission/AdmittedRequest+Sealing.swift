extension AdmittedRequest {
    /// The bytes that the request takes in the journal if all its hits are new.
    package var journalBytes: Int { self.headerBytes + self.entries.count }

    private var headerBytes: Int {
        guard !self.claims.isEmpty else { return 0 }
        return HitBlock.headerBytes(tenant: self.ledger.tenant, trace: self.trace)
    }

    /// Appends the request's block with its granted events, and returns the number of those events
    /// and of their hits. Appends nothing if no event was granted.
    @discardableResult
    package func appendSealed(to payload: inout [UInt8]) -> (events: Int, hits: Int) {
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
        let start = payload.count
        payload.appendHeader(
            entryCount: granted, entriesBytes: self.entries.count, receiveTime: self.receiveTime,
            tenant: self.ledger.tenant, trace: self.trace)
        if isUnchanged {
            payload.append(contentsOf: self.entries)
            return (granted, hits)
        }
        let entriesStart = payload.count
        self.entries.withUnsafeBytes { entries in
            for claim in self.claims where !claim.granted.isEmpty {
                payload.append(contentsOf: HitBlock.entry(at: claim.entryOffset, in: entries))
            }
        }
        HitBlock.setEntries(
            count: granted, bytes: payload.count - entriesStart, in: &payload, at: start)
        return (granted, hits)
    }

    /// Writes a claim's granted hits and its warnings into its entry.
    func seal(_ claim: Claim) {
        self.entries.withUnsafeMutableBytes { entries in
            entries.storeBytes(
                of: claim.granted.rawValue.littleEndian,
                toByteOffset: claim.entryOffset + HitBlock.kindsOffset, as: UInt16.self)
            entries.storeBytes(
                of: claim.warnings.rawValue.littleEndian,
                toByteOffset: claim.entryOffset + HitBlock.warningsOffset, as: UInt16.self)
        }
    }
}

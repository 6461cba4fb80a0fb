extension AdmittedRequest {
    /// The bytes that the request takes in the journal if all its hits are new.
    package var journalBytes: Int { self.headerBytes + self.entries.count }

    private var headerBytes: Int {
        guard !self.acceptedEvents.isEmpty else { return 0 }
        return HitEncoding.headerBytes(tenant: self.ledger.tenant, trace: self.trace)
    }

    /// Appends the request's block with its granted events, and returns the number of those events
    /// and of their hits. Appends nothing if no event was granted.
    @discardableResult
    package func appendSealed(to payload: inout [UInt8]) -> (events: Int, hits: Int) {
        var (granted, hits) = (0, 0)
        var isUnchanged = true
        for accepted in self.acceptedEvents {
            if !accepted.granted.isEmpty { granted += 1 }
            hits += accepted.granted.rawValue.nonzeroBitCount
            guard accepted.isChanged else { continue }
            isUnchanged = false
            self.seal(accepted)
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
            for accepted in self.acceptedEvents where !accepted.granted.isEmpty {
                payload.append(contentsOf: HitEncoding.entry(at: accepted.entryOffset, in: entries))
            }
        }
        HitEncoding.setEntries(
            count: granted, bytes: payload.count - entriesStart, in: &payload, at: start)
        return (granted, hits)
    }

    /// Writes an accepted event's granted hits and its warnings into its entry.
    func seal(_ accepted: AcceptedEvent) {
        self.entries.withUnsafeMutableBytes { entries in
            entries.storeBytes(
                of: accepted.granted.rawValue.littleEndian,
                toByteOffset: accepted.entryOffset + HitEncoding.kindsOffset, as: UInt16.self)
            entries.storeBytes(
                of: accepted.warnings.rawValue.littleEndian,
                toByteOffset: accepted.entryOffset + HitEncoding.warningsOffset, as: UInt16.self)
        }
    }
}

package import TrackingCore

/// What a group of requests adds to the ledger, in the order in which its rows first occurred.
package struct LedgerDelta {
    private(set) var entries: [(key: LedgerKey, count: UInt32)] = []
    private var places: [LedgerKey: Int] = [:]
    /// Counts of a request's claims, by subject and outcome.
    private var counts: [UInt32] = []

    /// Creates an empty delta.
    package init() {}

    /// Whether nothing was added.
    package var isEmpty: Bool { self.entries.isEmpty }

    /// Removes everything, and keeps the memory for the next group.
    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.places.removeAll(keepingCapacity: true)
    }

    /// Adds a request that the journal has settled.
    package mutating func add(_ request: AdmittedRequest) {
        guard let ledger = request.ledger, !ledger.subjects.isEmpty else { return }
        ledger.tenant.withBytes { tenant in
            for refused in ledger.refused {
                self.add(
                    LedgerKey(
                        hour: ledger.hour, tenant: tenant,
                        subject: ledger.subjects[Int(refused.subject)].bytes,
                        outcome: refused.outcome, detail: refused.detail), refused.count)
            }
            guard !request.claims.isEmpty else { return }
            self.count(request.claims, subjects: ledger.subjects.count)
            for (place, count) in self.counts.enumerated() where count > 0 {
                let outcome = LedgerOutcome(
                    rawValue: UInt8(truncatingIfNeeded: place % LedgerOutcome.count))
                self.add(
                    LedgerKey(
                        hour: ledger.hour, tenant: tenant,
                        subject: ledger.subjects[place / LedgerOutcome.count].bytes,
                        outcome: outcome, detail: ""), count)
            }
        }
    }

    /// Counts the claims of a request, which often are many of one kind.
    private mutating func count(_ claims: [Claim], subjects: Int) {
        self.counts.removeAll(keepingCapacity: true)
        self.counts.append(contentsOf: repeatElement(0, count: subjects * LedgerOutcome.count))
        self.counts.withUnsafeMutableBufferPointer { counts in
            for claim in claims {
                let row = Int(claim.subject) &* LedgerOutcome.count
                guard !claim.granted.isEmpty else {
                    counts[row &+ Int(LedgerOutcome.duplicate(claim.kinds).rawValue)] &+= 1
                    continue
                }
                counts[row &+ Int(LedgerOutcome.accepted(claim.granted).rawValue)] &+= 1
                if claim.isClosedImpression {
                    counts[row &+ Int(LedgerOutcome.closedImpression.rawValue)] &+= 1
                }
                var warnings = claim.warnings.rawValue
                while warnings != 0 {
                    let number = UInt8(truncatingIfNeeded: warnings.trailingZeroBitCount)
                    counts[row &+ Int(LedgerOutcome.warning(number).rawValue)] &+= 1
                    warnings &= warnings &- 1
                }
            }
        }
    }

    mutating func add(_ key: LedgerKey, _ count: UInt32) {
        if let place = self.places[key] {
            self.entries[place].count &+= count
        } else {
            self.places[key] = self.entries.count
            self.entries.append((key, count))
        }
    }

    // MARK: In a record

    /// Encodes it for the journal: the length of the rows (4), and of each row the count (4), the
    /// key's length (2), and the key. Empty if there are no rows.
    package func encoded() -> [UInt8] {
        if self.entries.isEmpty { return [] }
        let length = self.entries.reduce(0) { $0 &+ 6 &+ $1.key.bytes.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 &+ length)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: length).littleEndian) {
            bytes.append(contentsOf: $0)
        }
        for entry in self.entries {
            withUnsafeBytes(of: entry.count.littleEndian) { bytes.append(contentsOf: $0) }
            let length = UInt16(truncatingIfNeeded: entry.key.bytes.count)
            withUnsafeBytes(of: length.littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: entry.key.bytes)
        }
        return bytes
    }

    /// Decodes the rows of a record's part, up to the first bytes that are none.
    package init(encoded bytes: Bytes) {
        var offset = 0
        while bytes.count - offset > 6 {
            let count = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let length = Int(
                UInt16(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)))
            guard bytes.count - offset - 6 >= length,
                let key = LedgerKey(
                    stored: Bytes(rebasing: bytes[offset + 6..<offset + 6 + length]))
            else { return }
            self.add(key, UInt32(littleEndian: count))
            offset += 6 + length
        }
    }
}

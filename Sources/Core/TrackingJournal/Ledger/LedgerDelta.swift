package import TrackingRules
package import WireFormat

/// What a group of requests adds to the ledger, in the order in which its rows first occurred.
package struct LedgerDelta {
    private(set) var entries: [(key: LedgerKey, count: UInt32)] = []
    private var places: [LedgerKey: Int] = [:]
    /// Counts of a request's accepted events, by subject and outcome: zeros between two requests.
    private var counts: [UInt32] = []
    /// The outcomes that have a count, a bit each, by subject; as many as `counts` is made for.
    private var counted: [UInt64] = []
    /// The key that is looked up. One memory serves all that have a row already.
    private var key = LedgerKey(bytes: [])

    /// Creates an empty delta.
    package init() {}

    /// Whether nothing was added.
    package var isEmpty: Bool { self.entries.isEmpty }

    /// Removes everything, and keeps the memory for the next group.
    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.places.removeAll(keepingCapacity: true)
    }

    /// Adds a request that the journal has settled. Reads it in place: copying a part of it takes
    /// longer than counting it.
    package mutating func add(_ request: AdmittedRequest) {
        for refused in request.ledger.refused {
            self.add(
                request, subject: Int(refused.subject), refused.outcome, detail: refused.detail,
                refused.count)
        }
        guard !request.acceptedEvents.isEmpty else { return }
        let subjects = request.ledger.subjects.count
        self.count(request.acceptedEvents, subjects: subjects)
        for subject in 0..<subjects {
            var outcomes = self.counted[subject]
            self.counted[subject] = 0
            while outcomes != 0 {
                let number = outcomes.trailingZeroBitCount
                outcomes &= outcomes &- 1
                let place = subject &* LedgerOutcome.count &+ number
                let outcome = LedgerOutcome(rawValue: UInt8(truncatingIfNeeded: number))
                self.add(request, subject: subject, outcome, self.counts[place])
                self.counts[place] = 0
            }
        }
    }

    private mutating func add(
        _ request: AdmittedRequest, subject: Int, _ outcome: LedgerOutcome, detail: String = "",
        _ count: UInt32
    ) {
        let hour = request.ledger.hour
        request.ledger.tenant.withBytes { tenant in
            request.ledger.subjects.withBytes(at: subject) { subject in
                let parts = LedgerSubject.parts(of: subject)
                self.key.set(
                    hour: hour, tenant: tenant, subject: parts.key, outcome: outcome,
                    detail: detail.utf8)
                self.add(self.key, count)
                guard parts.version.count > 0 || parts.mark != .none, outcome.isEvent else {
                    return
                }
                if parts.version.count > 0 {
                    self.key.set(
                        hour: hour, tenant: tenant, subject: parts.key, outcome: .version,
                        counted: outcome, detail: parts.version)
                    self.add(self.key, count)
                }
                let mark = parts.mark.counted(as: outcome)
                if mark != .none {
                    self.key.set(
                        hour: hour, tenant: tenant, subject: parts.key, outcome: .send,
                        counted: outcome, detail: CollectionOfOne(mark.rawValue))
                    self.add(self.key, count)
                }
            }
        }
    }

    /// Counts the accepted events of a request, which often are many of one kind.
    private mutating func count(_ acceptedEvents: [AcceptedEvent], subjects: Int) {
        let missing = subjects - self.counted.count
        if missing > 0 {
            self.counted.append(contentsOf: repeatElement(0, count: missing))
            self.counts.append(contentsOf: repeatElement(0, count: missing * LedgerOutcome.count))
        }
        for accepted in acceptedEvents {
            let subject = Int(accepted.subject)
            guard !accepted.granted.isEmpty else {
                self.count(.duplicate(accepted.kinds), of: subject)
                // Events with a placeholder are duplicates because of it (D57).
                self.count(
                    accepted.warnings.rawValue & Warnings.idPlaceholder.rawValue, of: subject)
                continue
            }
            self.count(.accepted(accepted.granted), of: subject)
            if let beside = accepted.beside { self.count(beside, of: subject) }
            self.count(accepted.warnings.rawValue, of: subject)
        }
    }

    /// Counts each warning of an event.
    @inline(__always)
    private mutating func count(_ warnings: Warnings.RawValue, of subject: Int) {
        var warnings = warnings
        while warnings != 0 {
            let number = UInt8(truncatingIfNeeded: warnings.trailingZeroBitCount)
            self.count(.warning(number), of: subject)
            warnings &= warnings &- 1
        }
    }

    @inline(__always)
    private mutating func count(_ outcome: LedgerOutcome, of subject: Int) {
        self.counted[subject] |= 1 << UInt64(outcome.rawValue)
        self.counts[subject &* LedgerOutcome.count &+ Int(outcome.rawValue)] &+= 1
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

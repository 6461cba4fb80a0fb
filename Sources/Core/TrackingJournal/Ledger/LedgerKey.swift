package import TrackingRules
package import WireFormat

/// The key of a ledger's row: what its counts have in common.
///
/// The bytes are stored, little-endian: the hour, counted from 1970 (4), the tenant's length (1),
/// the tenant, the subject (`LedgerSubject`), the outcome (1), and its detail.
package struct LedgerKey: Sendable, Equatable {
    /// The encoded key.
    package private(set) var bytes: [UInt8]

    /// The longest name of a tenant and the longest detail; what is longer is cut.
    package static let textBytes = RequestLedger.detailBytes
    /// The longest key.
    package static let maxBytes =
        5 + Self.textBytes + 3 + 2 * LedgerSubject.nameBytes + 1 + Self.textBytes

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// A key from its parts.
    package init(
        hour: UInt32, tenant: Bytes, subject: [UInt8], outcome: LedgerOutcome, detail: String
    ) {
        self.bytes = []
        subject.withUnsafeBytes {
            self.set(
                hour: hour, tenant: tenant, subject: $0, outcome: outcome, detail: detail.utf8)
        }
    }

    /// Replaces all parts. Reuses the memory if no copy of the key shares it.
    ///
    /// - Parameter counted: the outcome that begins the detail of a row by version or of sends.
    mutating func set(
        hour: UInt32, tenant: Bytes, subject: Bytes, outcome: LedgerOutcome,
        counted: LedgerOutcome? = nil, detail: some Collection<UInt8>
    ) {
        let tenant = tenant.cut(to: Self.textBytes)
        self.bytes.removeAll(keepingCapacity: true)
        self.bytes.reserveCapacity(7 + tenant.count + subject.count + detail.count)
        withUnsafeBytes(of: hour.littleEndian) { self.bytes.append(contentsOf: $0) }
        self.bytes.append(UInt8(truncatingIfNeeded: tenant.count))
        self.bytes.append(contentsOf: tenant)
        self.bytes.append(contentsOf: subject)
        self.bytes.append(outcome.rawValue)
        if let counted { self.bytes.append(counted.rawValue) }
        self.bytes.append(contentsOf: detail.prefix(Self.textBytes))
    }

    /// The key of the row that counts what has no row of its own.
    static func other(tenant: Bytes, outcome: LedgerOutcome) -> LedgerKey {
        LedgerKey(
            hour: 0, tenant: tenant, subject: [Self.otherFacts, 0, 0], outcome: outcome, detail: "")
    }

    /// In place of a subject's first byte: the row counts events of all subjects.
    private static let otherFacts: UInt8 = 0x80

    // MARK: Parts

    /// The hour in which it was received, or the day's first one.
    var hour: UInt32 {
        self.bytes.withUnsafeBytes {
            UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        }
    }

    var tenant: ArraySlice<UInt8> { self.bytes[5..<self.factsOffset] }
    var isOther: Bool { self.bytes[self.factsOffset] & Self.otherFacts != 0 }
    var outcome: LedgerOutcome { LedgerOutcome(rawValue: self.bytes[self.outcomeOffset]) }
    var detail: ArraySlice<UInt8> { self.bytes[(self.outcomeOffset + 1)...] }
    var app: ArraySlice<UInt8> {
        self.bytes[self.factsOffset + 2..<self.deliveryOffset - 1]
    }
    var delivery: ArraySlice<UInt8> { self.bytes[self.deliveryOffset..<self.outcomeOffset] }
    var facts: UInt8 { self.bytes[self.factsOffset] }

    /// The outcome of the events that a row by version or of sends counts again; nil for another
    /// row, and for `other`.
    var counted: LedgerOutcome? {
        guard self.outcome == .version || self.outcome == .send else { return nil }
        return self.detail.first.map { LedgerOutcome(rawValue: $0) }
    }

    /// The app's version of a row by version; empty of another one.
    var version: ArraySlice<UInt8> {
        self.outcome == .version ? self.detail.dropFirst() : []
    }

    /// The mark of a row of sends; none of another one.
    var mark: SendMark {
        guard self.outcome == .send, let mark = self.detail.dropFirst().first else { return .none }
        return SendMark(rawValue: mark)
    }

    private var factsOffset: Int { 5 + Int(self.bytes[4]) }
    private var deliveryOffset: Int {
        self.factsOffset + 3 + Int(self.bytes[self.factsOffset + 1])
    }
    private var outcomeOffset: Int {
        self.deliveryOffset + Int(self.bytes[self.deliveryOffset - 1])
    }

    /// Parses stored bytes; nil if they are no key.
    init?(stored: Bytes) {
        guard (9...Self.maxBytes).contains(stored.count) else { return nil }
        let app = 5 + Int(stored[4]) + 1
        guard app < stored.count else { return nil }
        let delivery = app + 1 + Int(stored[app])
        guard delivery < stored.count, delivery + 1 + Int(stored[delivery]) < stored.count else {
            return nil
        }
        self.bytes = Array(stored)
    }

    // MARK: Changes

    /// The same row in another hour.
    func moved(to hour: UInt32) -> LedgerKey {
        var bytes = self.bytes
        withUnsafeBytes(of: hour.littleEndian) { bytes.replaceSubrange(0..<4, with: $0) }
        return LedgerKey(bytes: bytes)
    }

    /// The same row by version with another version.
    func with(version: String) -> LedgerKey {
        LedgerKey(
            bytes: self.bytes[...min(self.outcomeOffset + 1, self.bytes.count - 1)]
                + Array(version.utf8))
    }

    /// The same row with another detail.
    func with(detail: String) -> LedgerKey {
        LedgerKey(bytes: self.bytes[...self.outcomeOffset] + Array(detail.utf8))
    }
}

extension LedgerKey: Hashable {
    /// Hashes the bytes at once: an array's own hash takes them one by one.
    package func hash(into hasher: inout Hasher) {
        self.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

internal import CLibcrypto
package import WireFormat

/// The stable identity of a fact (D17, D30): the first 15 bytes of a SHA-256 over the fields that
/// identify it. With a HitKind's number as the 16th byte it is a hit id. The encoding never
/// changes: each field is preceded by its length (4 bytes, big-endian).
///
/// - Push: `"push"`, tenant, `"standard"` or `"classic"`, app id, deliveryId, broadlogId, action
///   button (D17).
/// - In-app: `"in_app"`, tenant, app id, message id, subject, what happened (`"impression"`,
///   `"click"`, `"dismissal"`, `"display_error"`, `"triggered"`, `"suppressed"`), event id; without
///   an event id the time it happened follows: seconds (8 bytes) and nanos (4 bytes), big-endian
///   (D30).
package struct HitKey: Sendable, Hashable {
    /// Bytes 0 to 7, big-endian.
    package let high: UInt64
    /// Bytes 8 to 14, big-endian, in the upper 56 bits; the lowest 8 are zero.
    package let low: UInt64

    /// Creates a key from its stored halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low & ~0xff
    }

    /// Hashes the fields that `fill` appends.
    fileprivate init(_ fill: (inout FieldHash) -> Void) {
        // Up to 1,024 bytes are on the stack; more would be allocated on the heap.
        self = withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { memory in
            var fields = FieldHash(memory)
            fill(&fields)
            return fields.key()
        }
    }

    /// The key of a push event; with `actionIdentifier` empty, the plain notification's.
    static func push(
        tenant: Bytes, product: Product, appID: Bytes, deliveryID: Bytes, broadlogID: Bytes,
        actionIdentifier: Bytes
    ) -> HitKey {
        HitKey { fields in
            fields.append("push")
            fields.append(tenant)
            fields.append(product == .classic ? "classic" : "standard")
            fields.append(appID)
            fields.append(deliveryID)
            fields.append(broadlogID)
            fields.append(actionIdentifier)
        }
    }

    /// The key of an in-app event.
    static func inApp(tenant: Bytes, event: EventView) -> HitKey {
        HitKey { fields in
            fields.append("in_app")
            fields.append(tenant)
            fields.append(event.appID)
            fields.append(event.inApp.messageID)
            fields.append(event.subjectID)
            fields.append(event.inApp.event.keyName)
            fields.append(event.eventID)
            guard event.eventID.isEmpty, let time = event.occurTime else { return }
            fields.append(time)
        }
    }

    /// The key of an in-app message's recipient: used to count recipients, never as a hit's key.
    static func recipient(tenant: Bytes, appID: Bytes, messageID: Bytes, subjectID: Bytes) -> HitKey
    {
        HitKey { fields in
            fields.append("recipient")
            fields.append(tenant)
            fields.append(appID)
            fields.append(messageID)
            fields.append(subjectID)
        }
    }

    /// The hit id of `kind`: 16 bytes.
    package func hitID(_ kind: HitKind) -> [UInt8] { self.withHitID(kind) { [UInt8]($0) } }

    /// Calls `body` with the hit id of `kind`, in place.
    package func withHitID<Value>(
        _ kind: HitKind, _ body: (Bytes) throws -> Value
    ) rethrows -> Value {
        try withUnsafeBytes(
            of: (self.high.bigEndian, (self.low | UInt64(kind.rawValue)).bigEndian), body)
    }
}

/// Collects the fields of a key, so that most keys are hashed in a single call.
private struct FieldHash {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0
    private var context = SHA256_CTX()

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
        SHA256_Init(&self.context)
    }

    mutating func append(_ field: Bytes) {
        let length = MemoryLayout<UInt32>.size
        // One check for both: most keys fit whole.
        if length &+ field.count > self.memory.count &- self.count { self.hashCollected() }
        self.memory.storeBytes(
            of: UInt32(truncatingIfNeeded: field.count).bigEndian, toByteOffset: self.count,
            as: UInt32.self)
        self.count &+= length
        guard let base = field.baseAddress, let memory = self.memory.baseAddress else { return }
        guard field.count <= self.memory.count &- self.count else {
            self.hashCollected()
            SHA256_Update(&self.context, base, field.count)
            return
        }
        (memory + self.count).copyMemory(from: base, byteCount: field.count)
        self.count &+= field.count
    }

    mutating func append(_ literal: StaticString) {
        self.append(Bytes(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ time: EventView.OccurTime) {
        self.store(UInt32(12).bigEndian)
        self.store(time.seconds.bigEndian)
        self.store(time.nanos.bigEndian)
    }

    /// Finishes the hash of all appended fields.
    mutating func key() -> HitKey {
        self.hashCollected()
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &digest) { digest in
            _ = SHA256_Final(
                digest.baseAddress?.assumingMemoryBound(to: UInt8.self), &self.context)
        }
        return HitKey(high: UInt64(bigEndian: digest.0), low: UInt64(bigEndian: digest.1))
    }

    private mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        if MemoryLayout<Number>.size > self.memory.count &- self.count { self.hashCollected() }
        self.memory.storeBytes(of: number, toByteOffset: self.count, as: Number.self)
        self.count &+= MemoryLayout<Number>.size
    }

    private mutating func hashCollected() {
        SHA256_Update(&self.context, self.memory.baseAddress, self.count)
        self.count = 0
    }
}

extension InAppView.Event {
    fileprivate var keyName: StaticString {
        switch self {
        case .none: ""
        case .impression: "impression"
        case .click(hasURL: true): "click"
        case .click(hasURL: false), .dismissal: "dismissal"
        case .displayError: "display_error"
        case .triggered: "triggered"
        case .suppressed: "suppressed"
        }
    }
}

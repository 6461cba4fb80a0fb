// The stable identity of a fact (D17, D30): the same bytes whenever the same fact comes again.
internal import CLibcrypto

/// The first 15 bytes of a SHA-256 over what makes a fact; with a HitKind's number as the 16th it
/// is a hit id. The form is stable for ever: each field is preceded by its length (4 bytes,
/// big-endian).
///
/// - Push: `"push"`, tenant, `"standard"` or `"classic"`, app id, deliveryId, broadlogId, action
///   button (D17).
/// - In-app: `"in_app"`, tenant, app id, message id, subject, what happened (`"impression"`,
///   `"click"`, `"dismissal"`, `"display_error"`), event id; without an event id the time it
///   happened follows: seconds (8 bytes) and nanos (4 bytes), big-endian (D30).
package struct HitKey: Sendable, Hashable {
    /// Bytes 0 to 7, big-endian.
    package let high: UInt64
    /// Bytes 8 to 14, big-endian, in the upper 56 bits; the lowest 8 are zero.
    package let low: UInt64

    /// A key of known bytes.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low & ~0xff
    }

    /// Hashes the fields that `fill` appends.
    fileprivate init(_ fill: (inout FieldBuffer) -> Void) {
        // Every field is bounded, by Limits and the tenant by its length of one byte: 1148 bytes in
        // all. They lie on the stack, so a hash allocates nothing.
        self = withUnsafeTemporaryAllocation(byteCount: 1280, alignment: 8) { memory in
            var fields = FieldBuffer(memory)
            fill(&fields)
            var context = SHA256_CTX()
            var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            SHA256_Init(&context)
            SHA256_Update(&context, fields.bytes.baseAddress, fields.bytes.count)
            withUnsafeMutableBytes(of: &digest) { digest in
                _ = SHA256_Final(
                    digest.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
            }
            return HitKey(high: UInt64(bigEndian: digest.0), low: UInt64(bigEndian: digest.1))
        }
    }

    /// The key of a push's hits; `actionIdentifier` empty gives the plain notification's.
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

    /// The key of an in-app message's hit.
    static func inApp(
        tenant: Bytes, event: EventView, message: InAppView
    ) -> HitKey {
        HitKey { fields in
            fields.append("in_app")
            fields.append(tenant)
            fields.append(event.appID)
            fields.append(message.messageID)
            fields.append(event.subjectID)
            fields.append(message.event.keyName)
            fields.append(event.eventID)
            guard event.eventID.isEmpty, let time = event.occurTime else { return }
            fields.append(time)
        }
    }

    /// The hit id of `kind`: 16 bytes.
    package func hitID(_ kind: HitKind) -> [UInt8] {
        withUnsafeBytes(of: (self.high.bigEndian, (self.low | UInt64(kind.rawValue)).bigEndian)) {
            [UInt8]($0)
        }
    }
}

/// The fields of one key, laid out for the hash.
private struct FieldBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    var bytes: Bytes { Bytes(rebasing: self.memory[..<self.count]) }

    mutating func append(_ field: Bytes) {
        // Form bounds every field, so this cut is never reached; it keeps memory safe regardless.
        let length = min(field.count, self.memory.count &- self.count &- 4)
        guard length >= 0 else { return }
        self.store(UInt32(truncatingIfNeeded: length).bigEndian)
        if let base = field.baseAddress, length > 0 {
            (self.memory.baseAddress?.advanced(by: self.count))?.copyMemory(
                from: base, byteCount: length)
            self.count &+= length
        }
    }

    mutating func append(_ literal: StaticString) {
        self.append(Bytes(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ time: EventView.OccurTime) {
        guard self.count &+ 16 <= self.memory.count else { return }
        self.store(UInt32(12).bigEndian)
        self.store(time.seconds.bigEndian)
        self.store(time.nanos.bigEndian)
    }

    private mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        self.memory.storeBytes(of: number, toByteOffset: self.count, as: Number.self)
        self.count &+= MemoryLayout<Number>.size
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
        }
    }
}

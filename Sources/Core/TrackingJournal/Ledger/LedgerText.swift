/// A part of a key, such as the tenant, as a key of its own.
struct LedgerText: Hashable, Comparable, Sendable {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var text: String { String(decoding: self.bytes, as: UTF8.self) }

    var isEmpty: Bool { self.bytes.isEmpty }

    /// By bytes.
    static func < (left: LedgerText, right: LedgerText) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Hashes the bytes at once: a slice's own hash takes them one by one.
    func hash(into hasher: inout Hasher) {
        hasher.combine(self.bytes.count)
        self.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

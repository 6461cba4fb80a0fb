#if PostgreSQL
// Memory that rows are written into: numbers in network order, as COPY's binary format has them.
internal import Glibc
internal import WireFormat

/// Bytes that only grow until they are cleared; the memory is kept for the next batch.
final class RowBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 64 << 10, alignment: 8)
    private(set) var count = 0

    deinit { self.memory.deallocate() }

    /// What was written, valid until the next write.
    var bytes: Bytes { Bytes(rebasing: self.memory[..<self.count]) }

    func clear() { self.count = 0 }

    /// Takes back what was written after `count`.
    func truncate(to count: Int) { self.count = count }

    /// Makes room for so many bytes more.
    func reserve(_ byteCount: Int) {
        guard byteCount > self.memory.count - self.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(self.memory.count * 2, self.count + byteCount), alignment: 8)
        larger.copyMemory(from: self.bytes)
        self.memory.deallocate()
        self.memory = larger
    }

    /// Appends a number; there has to be room.
    func put(_ number: some FixedWidthInteger & BitwiseCopyable) {
        self.memory.storeBytes(
            of: number.bigEndian, toByteOffset: self.count, as: type(of: number))
        self.count &+= number.bitWidth / 8
    }

    /// Appends bytes; there has to be room.
    func put(_ bytes: Bytes) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        UnsafeMutableRawBufferPointer(rebasing: self.memory[self.count...])
            .baseAddress?.copyMemory(from: source, byteCount: bytes.count)
        self.count &+= bytes.count
    }

    /// Appends a field of a number.
    func field(_ number: some FixedWidthInteger & BitwiseCopyable) {
        self.put(Int32(number.bitWidth / 8))
        self.put(number)
    }

    /// Appends a field that is null.
    func null() { self.put(Int32(-1)) }

    /// Appends a field of bytes.
    func field(_ bytes: Bytes) {
        self.put(Int32(truncatingIfNeeded: bytes.count))
        self.put(bytes)
    }

    /// Appends a field of text. PostgreSQL's text has no zero byte: U+FFFD stands for it, as for
    /// what cannot be decoded.
    func text(_ text: Bytes) {
        guard let start = text.baseAddress, memchr(start, 0, text.count) != nil else {
            return self.field(text)
        }
        self.put(Int32(text.count &+ 2 &* text.count { $0 == 0 }))
        for byte in text {
            if byte == 0 {
                for part in Self.replacement { self.put(part) }
            } else {
                self.put(byte)
            }
        }
    }

    private static let replacement: [UInt8] = [0xef, 0xbf, 0xbd]

    /// Appends a field of text that is null if it is empty.
    func textOrNull(_ text: Bytes) {
        if text.isEmpty { self.null() } else { self.text(text) }
    }
}
#endif

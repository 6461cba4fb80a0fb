/// The checksum of zlib and gzip: CRC-32 with the polynomial 0xEDB88320.
struct CRC32 {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in
            rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1
        }
    }

    private var state = ~UInt32(0)

    /// The checksum of all bytes so far.
    var value: UInt32 { ~self.state }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        Self.table.withUnsafeBufferPointer { table in
            var state = self.state
            for byte in bytes {
                state = table[Int((state ^ UInt32(byte)) & 0xFF)] ^ state >> 8
            }
            self.state = state
        }
    }
}

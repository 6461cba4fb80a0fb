// The checksum of the journal's payloads.
internal import CCRC32C
internal import TestSupport
internal import Testing

/// RFC 3720, appendix B.4.
private let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
    ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
    ([UInt8](0...31), 0x46dd_794e),
    ([UInt8]((0...31).reversed()), 0x113f_db5c),
    (
        [
            0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
            0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
        ], 0xd996_3a56
    ),
]

struct CRC32CTests {
    @Test("the checksum is that of RFC 3720, appendix B.4", arguments: vectors)
    func known(bytes: [UInt8], checksum: UInt32) {
        #expect(sightline_crc32c(0, bytes, bytes.count) == checksum)
        #expect(sightline_crc32c_table(0, bytes, bytes.count) == checksum)
    }

    @Test("the instruction and the table agree on any length, start and continuation")
    func agreement() {
        var generator = Dice(seed: 3720)
        let bytes = (0..<4096).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes.withUnsafeBytes { bytes in
            for _ in 0..<2000 {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                let rest = UnsafeRawBufferPointer(
                    rebasing: bytes[start..<Int.random(in: start...bytes.count, using: &generator)])
                let split = Int.random(in: 0...rest.count, using: &generator)
                let whole = sightline_crc32c(0, rest.baseAddress, rest.count)
                #expect(whole == sightline_crc32c_table(0, rest.baseAddress, rest.count))
                let head = sightline_crc32c(0, rest.baseAddress, split)
                let tail = rest.baseAddress?.advanced(by: split)
                #expect(whole == sightline_crc32c(head, tail, rest.count - split))
            }
        }
    }
}

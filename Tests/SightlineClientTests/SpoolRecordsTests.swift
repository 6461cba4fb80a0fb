// The form of a spool's files, which the libraries for Go, Java and Python share.
internal import SightlineClient
internal import Testing

struct SpoolRecordsTests {
    private let first = Array("first".utf8)
    private let second = Array("second".utf8)

    private var file: [UInt8] {
        SpoolRecords.magic + SpoolRecords.record(of: self.first).bytes
            + SpoolRecords.record(of: self.second).bytes
    }

    private var secondPlace: Int { SpoolRecords.magic.count + 8 + self.first.count }

    @Test("a record is a length, zlib's CRC-32 of length and bytes, and the bytes")
    func vector() {
        // zlib.crc32(b"first", zlib.crc32(b"\x05\0\0\0")), by Python.
        let record = SpoolRecords.record(of: self.first)
        #expect(record.bytes == [5, 0, 0, 0, 0xAB, 0x48, 0xCD, 0xF8] + self.first)
        #expect(record.head == 0xF8CD_48AB_0000_0005)
    }

    @Test("no head is 0, not even that of an event without bytes: so no gap is a mark")
    func emptyHead() {
        // zlib.crc32(bytes(4)), by Python.
        #expect(SpoolRecords.record(of: []).head == 0x2144_DF1C_0000_0000)
    }

    @Test("a file is read to its end, and may be torn at any byte of its last record")
    func torn() throws {
        for count in 0...self.file.count {
            let found = try SpoolRecords.read(Array(self.file.prefix(count)), mayBeTorn: true)
            let wholeCount = [self.secondPlace, self.file.count].count { $0 <= count }
            #expect(found.events == [self.first, self.second].prefix(wholeCount).map(\.self))
            let ends = [0, SpoolRecords.magic.count, self.secondPlace, self.file.count]
            #expect(found.end == ends.last { $0 <= count })
        }
    }

    @Test("a tail of zeros is torn, as a power cut may leave it", arguments: [1, 8, 9, 100])
    func zeros(count: Int) throws {
        let zeros = [UInt8](repeating: 0, count: count)
        let found = try SpoolRecords.read(self.file + zeros, mayBeTorn: true)
        #expect(found.events == [self.first, self.second] && found.end == self.file.count)
        #expect(try SpoolRecords.read(zeros, mayBeTorn: true).end == 0)
        let torn = SpoolRecords.magic.prefix(4) + zeros
        #expect(try SpoolRecords.read(Array(torn), mayBeTorn: true).end == 0)
    }

    @Test("in a file that was synced, a record that is not whole is damage, with its byte")
    func synced() {
        for count in SpoolRecords.magic.count..<self.file.count
        where count != SpoolRecords.magic.count && count != self.secondPlace {
            let byte = count < self.secondPlace ? SpoolRecords.magic.count : self.secondPlace
            #expect(throws: SpoolRecords.Damage(byte: byte)) {
                try SpoolRecords.read(Array(self.file.prefix(count)), mayBeTorn: false)
            }
        }
    }

    @Test("a changed bit before a whole record is damage, even in the last file")
    func damage() {
        for place in SpoolRecords.magic.count * 8..<self.secondPlace * 8 {
            var file = self.file
            file[place / 8] ^= 1 << UInt8(place % 8)
            #expect(throws: SpoolRecords.Damage(byte: SpoolRecords.magic.count)) {
                try SpoolRecords.read(file, mayBeTorn: true)
            }
        }
    }

    @Test("what does not begin with the magic is no file of a spool")
    func foreign() {
        #expect(throws: SpoolRecords.Damage(byte: 0)) {
            try SpoolRecords.read(Array("SLSPOOL2 and more".utf8), mayBeTorn: true)
        }
    }
}

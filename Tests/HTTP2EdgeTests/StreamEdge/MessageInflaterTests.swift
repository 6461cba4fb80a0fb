// Compressed messages: every way in which one can be cut, damaged or blown up comes to an end.
@testable internal import HTTP2Edge
internal import NIOCore
internal import Testing

struct MessageInflaterTests {
    /// "hello hello hello hello" by Python's gzip (no time) and zlib.
    private static let plain = Array("hello hello hello hello".utf8)
    private static let compressed: [String: [UInt8]] = [
        "gzip": [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD,
            0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00,
            0x00, 0x00,
        ],
        "deflate": [
            0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0x01, 0x68,
            0x03, 0x08, 0xB1,
        ],
    ]

    private func message(_ bytes: [UInt8], flag: UInt8 = 1) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(flag)
        buffer.writeInteger(UInt32(bytes.count))
        buffer.writeBytes(bytes)
        return buffer
    }

    private func inflater(_ encoding: String, maxBytes: Int = 1000) throws -> MessageInflater {
        try #require(MessageInflater(encoding, maxBytes: maxBytes))
    }

    @Test(
        "a message comes out plain, in one piece or byte by byte", arguments: ["gzip", "deflate"])
    func plain(_ encoding: String) throws {
        let inflater = try self.inflater(encoding)
        let whole = self.message(try #require(Self.compressed[encoding]))
        let expected = self.message(Self.plain, flag: 0)
        for pieces in [[whole], whole.readableBytesView.map { ByteBuffer(bytes: [$0]) }] {
            for piece in pieces.dropLast() {
                inflater.append(piece)
                #expect(try inflater.next() == nil && inflater.hasRest)
            }
            let last = try #require(pieces.last)
            inflater.append(last)
            #expect(try inflater.next() == expected)
            #expect(try inflater.next() == nil && !inflater.hasRest)
        }
    }

    @Test("a plain message among compressed ones passes as it is")
    func mixed() throws {
        let inflater = try self.inflater("gzip")
        var bytes = self.message(Array("plain".utf8), flag: 0)
        var second = self.message(try #require(Self.compressed["gzip"]))
        var empty = self.message([], flag: 0)
        bytes.writeBuffer(&second)
        bytes.writeBuffer(&empty)
        inflater.append(bytes)
        #expect(try inflater.next() == self.message(Array("plain".utf8), flag: 0))
        #expect(try inflater.next() == self.message(Self.plain, flag: 0))
        #expect(try inflater.next() == self.message([], flag: 0))
        #expect(try inflater.next() == nil)
    }

    @Test("a message costs nothing of those behind it: plain ones share the bytes that came")
    func sharing() throws {
        let inflater = try self.inflater("gzip")
        var bytes = ByteBuffer()
        for _ in 0..<100 { bytes.writeImmutableBuffer(self.message([1, 2, 3], flag: 0)) }
        inflater.append(bytes)
        let came = bytes.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        let addresses = came..<came + UInt(bytes.readableBytes)
        var taken: [ByteBuffer] = []
        while let message = try inflater.next() { taken.append(message) }
        #expect(taken.count == 100)
        #expect(
            taken.allSatisfy { message in
                message.withUnsafeReadableBytes {
                    addresses.contains(UInt(bitPattern: $0.baseAddress))
                }
            })
    }

    @Test("what comes out of a small message takes little room")
    func room() throws {
        let inflater = try self.inflater("gzip", maxBytes: 1 << 20)
        inflater.append(self.message(try #require(Self.compressed["gzip"])))
        #expect(try #require(try inflater.next()).storageCapacity <= 512)
    }

    @Test("a message that breaks off at any byte is malformed", arguments: ["gzip", "deflate"])
    func brokenOff(_ encoding: String) throws {
        let bytes = try #require(Self.compressed[encoding])
        for count in bytes.indices {
            let inflater = try self.inflater(encoding)
            let message = self.message(Array(bytes.prefix(count)))
            inflater.append(message)
            #expect(throws: InflateFailure.malformed, "\(count) bytes") { try inflater.next() }
        }
    }

    @Test("a damaged message, one with more behind it and one of another form are malformed")
    func damaged() throws {
        let gzip = try #require(Self.compressed["gzip"])
        let deflate = try #require(Self.compressed["deflate"])
        var damaged = gzip
        damaged[damaged.count - 6] ^= 1
        let rows = [
            ("gzip", damaged), ("gzip", gzip + [0]), ("gzip", deflate), ("gzip", gzip + damaged),
            ("gzip", gzip + deflate), ("deflate", gzip), ("deflate", deflate + deflate),
        ]
        for (encoding, bytes) in rows {
            let inflater = try self.inflater(encoding)
            inflater.append(self.message(bytes))
            #expect(throws: InflateFailure.malformed) { try inflater.next() }
        }
    }

    @Test("a flag that is neither 0 nor 1 is told", arguments: [2, 255] as [UInt8])
    func flag(_ flag: UInt8) throws {
        let inflater = try self.inflater("gzip")
        inflater.append(self.message([], flag: flag))
        #expect(throws: InflateFailure.flag(flag)) { try inflater.next() }
    }

    /// What gzip makes of no bytes.
    private static let emptyMember: [UInt8] =
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// What gzip makes of 100 times the letter a.
    private static let hundred: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4B, 0x4C, 0xA4, 0x3D, 0x00,
        0x00, 0x64, 0x7A, 0x70, 0xAF, 0x64, 0x00, 0x00, 0x00,
    ]

    @Test("gzip of several members comes out in one piece, all of it")
    func members() throws {
        let (gzip, empty) = (try #require(Self.compressed["gzip"]), Self.emptyMember)
        let rows: [(members: [[UInt8]], count: Int)] = [
            ([gzip, gzip], 2), ([gzip, gzip, gzip], 3), ([empty, gzip, empty, gzip], 2),
            ([gzip, empty], 1), ([empty, empty], 0),
        ]
        for (members, count) in rows {
            let inflater = try self.inflater("gzip")
            inflater.append(self.message(members.flatMap(\.self)))
            inflater.append(self.message(gzip))
            let plain = [[UInt8]](repeating: Self.plain, count: count).flatMap(\.self)
            #expect(try inflater.next() == self.message(plain, flag: 0))
            #expect(try inflater.next() == self.message(Self.plain, flag: 0), "and the next one")
        }
    }

    @Test("the limit holds for all members together: 200 bytes fit in 200 and not in 199")
    func limitOfMembers() throws {
        for (limit, fits) in [(200, true), (199, false), (100, false), (99, false)] {
            let inflater = try self.inflater("gzip", maxBytes: limit)
            inflater.append(self.message(Self.hundred + Self.hundred))
            if fits {
                #expect(try inflater.next()?.readableBytes == 205)
            } else {
                #expect(throws: InflateFailure.tooLarge) { try inflater.next() }
            }
        }
    }

    @Test("a second member that breaks off at any byte is malformed")
    func brokenOffMember() throws {
        let gzip = try #require(Self.compressed["gzip"])
        for count in gzip.indices.dropFirst() {
            let inflater = try self.inflater("gzip")
            inflater.append(self.message(gzip + gzip.prefix(count)))
            #expect(throws: InflateFailure.malformed, "\(count) bytes") { try inflater.next() }
        }
    }

    @Test("the limit holds for what comes out: 23 bytes fit in 23 and not in 22")
    func limit() throws {
        let bytes = try #require(Self.compressed["deflate"])
        for (limit, fits) in [(23, true), (22, false)] {
            let inflater = try self.inflater("deflate", maxBytes: limit)
            let message = self.message(bytes)
            inflater.append(message)
            if fits {
                #expect(try inflater.next()?.readableBytes == 28)
            } else {
                #expect(throws: InflateFailure.tooLarge) { try inflater.next() }
            }
        }
    }

    @Test("a length over the limit is refused before its bytes are there")
    func length() throws {
        let inflater = try self.inflater("gzip", maxBytes: 1000)
        let message = ByteBuffer(bytes: [1, 0xFF, 0xFF, 0xFF, 0xFF])
        inflater.append(message)
        #expect(throws: InflateFailure.tooLarge) { try inflater.next() }
    }

    @Test("other encodings are not taken", arguments: ["identity", "snappy", ""])
    func others(_ encoding: String) {
        #expect(MessageInflater(encoding, maxBytes: 1000) == nil)
    }
}

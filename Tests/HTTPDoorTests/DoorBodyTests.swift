// Bodies in each encoding: at their limit, one byte beyond, damaged, and blown up.
internal import CZstd
internal import HTTPTypes
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

struct DoorBodyTests {
    /// "hello hello hello hello" by Python's gzip (no time).
    private static let text = "hello hello hello hello"
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9,
        0x57, 0xC8, 0x40, 0x27, 0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00, 0x00, 0x00,
    ]
    private static let zstd = Self.compressed(Array(Self.text.utf8))

    private static func compressed(_ bytes: [UInt8], windowLog: Int32 = 0) -> [UInt8] {
        guard let context = ZSTD_createCCtx() else { return [] }
        defer { ZSTD_freeCCtx(context) }
        ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, windowLog)
        // The size of the content would make the window no larger than that.
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0)
        var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
        var input = ZSTD_inBuffer(src: nil, size: 0, pos: 0)
        var output = ZSTD_outBuffer(dst: nil, size: frame.count, pos: 0)
        return bytes.withUnsafeBytes { source in
            frame.withUnsafeMutableBytes { target in
                input.src = source.baseAddress
                output.dst = target.baseAddress
                // Without the size in advance: in two steps.
                input.size = source.count
                ZSTD_compressStream2(context, &output, &input, ZSTD_e_continue)
                ZSTD_compressStream2(context, &output, &input, ZSTD_e_end)
                return Array(target.prefix(output.pos))
            }
        }
    }

    private func request(_ body: [UInt8], _ encoding: String?) -> DoorRequest {
        var request = DoorRequest(method: .post, path: "/", body: ByteBuffer(bytes: body))
        if let encoding { request.headers[.contentEncoding] = encoding }
        return request
    }

    private static let bodies: [(encoding: String?, body: [UInt8])] = [
        (nil, Array(Self.text.utf8)), ("identity", Array(Self.text.utf8)), ("gzip", Self.gzip),
        ("x-gzip", Self.gzip), ("GZIP", Self.gzip), ("zstd", Self.zstd),
    ]

    @Test(
        "a body is decoded up to the limit, and refused one byte beyond", arguments: Self.bodies)
    func limit(_ row: (encoding: String?, body: [UInt8])) throws {
        let request = self.request(row.body, row.encoding)
        let count = Self.text.utf8.count
        #expect(try DoorBody.decoded(request, maxBytes: count) == ByteBuffer(string: Self.text))
        #expect(throws: DoorBodyError.tooLarge(limit: count - 1)) {
            try DoorBody.decoded(request, maxBytes: count - 1)
        }
    }

    @Test("gzip may have several members, and zstd several frames")
    func severalParts() throws {
        for (encoding, part) in [("gzip", Self.gzip), ("zstd", Self.zstd)] {
            let request = self.request(part + part, encoding)
            #expect(
                try DoorBody.decoded(request, maxBytes: 100)
                    == ByteBuffer(string: Self.text + Self.text), "\(encoding)")
            #expect(throws: DoorBodyError.tooLarge(limit: 45)) {
                try DoorBody.decoded(request, maxBytes: 45)
            }
        }
    }

    @Test("a body that is cut anywhere, or has more behind it, is damaged")
    func damaged() throws {
        for (encoding, whole) in [("gzip", Self.gzip), ("zstd", Self.zstd)] {
            for count in 1..<whole.count {
                #expect(throws: DoorBodyError.damaged(encoding), "\(encoding), \(count)") {
                    try DoorBody.decoded(
                        self.request(Array(whole.prefix(count)), encoding), maxBytes: 100)
                }
            }
            #expect(throws: DoorBodyError.damaged(encoding)) {
                try DoorBody.decoded(self.request(whole + [0], encoding), maxBytes: 100)
            }
        }
    }

    @Test("an empty body is never decoded", arguments: [nil, "gzip", "zstd", "br"])
    func empty(_ encoding: String?) throws {
        #expect(try DoorBody.decoded(self.request([], encoding), maxBytes: 1) == ByteBuffer())
    }

    @Test(
        "other encodings, and several, are unknown",
        arguments: ["br", "deflate", "gzip, gzip", "gzip, identity", "\"gzip\""])
    func unknown(_ encoding: String) throws {
        #expect(throws: DoorBodyError.unknownEncoding(encoding)) {
            try DoorBody.decoded(self.request(Self.gzip, encoding), maxBytes: 100)
        }
    }

    @Test("bombs end at the limit")
    func bombs() throws {
        let zeros = Self.compressed([UInt8](repeating: 0, count: 8 << 20))
        #expect(zeros.count < 4096)
        #expect(throws: DoorBodyError.tooLarge(limit: 1 << 20)) {
            try DoorBody.decoded(self.request(zeros, "zstd"), maxBytes: 1 << 20)
        }
    }

    @Test("a zstd frame whose window is too large is refused", arguments: [23, 24])
    func window(_ windowLog: Int32) throws {
        let frame = Self.compressed(Array(Self.text.utf8), windowLog: windowLog)
        let request = self.request(frame, "zstd")
        if windowLog <= 23 {
            #expect(try DoorBody.decoded(request, maxBytes: 100) == ByteBuffer(string: Self.text))
        } else {
            #expect(throws: DoorBodyError.damaged("zstd")) {
                try DoorBody.decoded(request, maxBytes: 100)
            }
        }
    }
}

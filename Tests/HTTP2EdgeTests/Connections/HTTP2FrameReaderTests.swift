// The frame reader extracts PINGs and nothing else, however the bytes are split.
@testable internal import HTTP2Edge
internal import TestSupport
internal import Testing

struct HTTP2FrameReaderTests {
    private typealias Kind = HTTP2FrameHeader.Kind

    private func check(_ script: FrameScript, cutAt cuts: [Int]) {
        let bounds = [0] + cuts + [script.bytes.count]
        let chunks = zip(bounds, bounds.dropFirst()).map { Array(script.bytes[$0..<$1]) }
        var reader = HTTP2FrameReader(side: .client)
        let (passing, pings) = FrameScript.read(chunks, with: &reader)
        #expect(passing == script.passing, "cut at \(cuts)")
        #expect(pings == script.pings, "cut at \(cuts)")
        #expect(reader.isAtBoundary && reader.isGreeted)
        #expect(reader.lastStreamID == 3 && reader.answers == 5 && reader.goAways == 1)
    }

    @Test("a connection in one piece")
    func whole() { self.check(.recorded, cutAt: []) }

    @Test("a connection byte by byte")
    func singleBytes() {
        let script = FrameScript.recorded
        self.check(script, cutAt: Array(1..<script.bytes.count))
    }

    @Test("a connection cut in two, at every place")
    func cutInTwo() {
        let script = FrameScript.recorded
        for place in 0...script.bytes.count { self.check(script, cutAt: [place]) }
    }

    @Test("a connection cut at random, empty chunks too", arguments: 0..<300 as Range<UInt64>)
    func cutAtRandom(_ seed: UInt64) {
        var generator = Dice(seed: seed)
        let script = FrameScript.recorded
        let count = Int.random(in: 1...40, using: &generator)
        let places = 0...script.bytes.count
        let cuts = (0..<count).map { _ in Int.random(in: places, using: &generator) }
        self.check(script, cutAt: cuts.sorted())
    }

    @Test("a frame is one piece with its header, unless chunks split it")
    func pieces() {
        let header = HTTP2FrameHeader(length: 2, kind: Kind.data, flags: 0, streamID: 3)
        let frame = header.bytes + [1, 2]
        var reader = HTTP2FrameReader(side: .client)
        _ = FrameScript.read([FrameScript.greeted.bytes], with: &reader)
        func pieces(_ chunk: [UInt8]) -> [HTTP2FrameReader.Piece] {
            var pieces: [HTTP2FrameReader.Piece] = []
            var offset = 0
            while let piece = reader.next(chunk.span, from: &offset) { pieces.append(piece) }
            #expect(offset == chunk.count)
            return pieces
        }
        #expect(pieces(frame + frame) == [.frame(header, 0..<11), .frame(header, 11..<22)])
        #expect(pieces(frame + frame.prefix(10)) == [.frame(header, 0..<11), .part(11..<21)])
        #expect(pieces([2] + frame.prefix(8)) == [.part(0..<1)])
        #expect(
            pieces([3] + [1, 2] + frame) == [.header(header), .part(1..<3), .frame(header, 3..<14)])
    }

    /// Protocol violations pass, so that the transport refuses them.
    static let broken: [(name: String, bytes: [UInt8])] = [
        ("a PING before SETTINGS", HTTP2FrameReader.preface + FrameScript.ping(1)),
        ("a PING of 7 bytes", Self.greeted + FrameScript.frame(6, payload: [1, 2, 3, 4, 5, 6, 7])),
        ("a PING of 9 bytes", Self.greeted + FrameScript.frame(6, payload: Array(1...9))),
        (
            "a PING on a stream",
            Self.greeted + FrameScript.frame(6, stream: 1, payload: Array(1...8))
        ),
        (
            "a PING in a header block",
            Self.greeted + FrameScript.frame(1, stream: 1, payload: [1]) + FrameScript.ping(1)
        ),
        (
            "a PING within the CONTINUATIONs of a header block",
            Self.greeted + FrameScript.frame(1, stream: 1) + FrameScript.frame(9, stream: 1)
                + FrameScript.ping(1)
        ),
        ("another protocol", Array("GET / HTTP/1.1\r\n\r\n".utf8) + FrameScript.ping(1)),
        ("a preface that ends otherwise", Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r".utf8)),
        ("a frame that never ends", Self.greeted + [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 2, 3]),
    ]
    private static let greeted = FrameScript.greeted.bytes

    @Test("what breaks the protocol goes on unchanged", arguments: Self.broken)
    func brokenGoesOn(_ row: (name: String, bytes: [UInt8])) {
        for chunks in [[row.bytes], row.bytes.map { [$0] }] {
            var reader = HTTP2FrameReader(side: .client)
            let (passing, pings) = FrameScript.read(chunks, with: &reader)
            #expect(passing == row.bytes && pings.isEmpty)
        }
    }

    @Test("a client has greeted with the last byte of its SETTINGS, and not before")
    func greeting() {
        for count in 0...Self.greeted.count {
            var reader = HTTP2FrameReader(side: .client)
            _ = FrameScript.read([Array(Self.greeted.prefix(count))], with: &reader)
            #expect(reader.isGreeted == (count == Self.greeted.count), "\(count) bytes")
        }
    }

    @Test("a server's bytes are only followed: nothing is kept, PINGs go on, answers are counted")
    func server() {
        let bytes =
            FrameScript.frame(Kind.settings) + FrameScript.ping(1)
            + FrameScript.frame(Kind.headers, flags: 4, stream: 1, payload: [1])
            + FrameScript.frame(Kind.data, stream: 1, payload: [1, 2, 3])
        var reader = HTTP2FrameReader(side: .server)
        for (index, byte) in bytes.enumerated() {
            let (passing, pings) = FrameScript.read([[byte]], with: &reader)
            #expect(passing == [byte] && pings.isEmpty, "at \(index)")
        }
        #expect(reader.answers == 2 && reader.isAtBoundary)
    }
}

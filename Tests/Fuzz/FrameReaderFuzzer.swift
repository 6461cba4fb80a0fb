// Fuzzes the connection guard's frame reader. The first byte of an input selects the side and the
// number of chunk sizes that follow; the rest is the connection's bytes. The result must not depend
// on the chunks, and equal that of a simple walk over all bytes.

@testable internal import HTTP2Edge

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzFrameReader(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: data, count: count))
    guard let choices = input.first else { return 0 }
    let side: HTTP2FrameReader.Side = choices & 1 == 0 ? .client : .server
    let sizes = input.dropFirst().prefix(Int(choices >> 1)).map { Int($0) }
    let stream = Array(input.dropFirst(1 + sizes.count))
    let expected = Passage(walkingOver: stream, side: side)
    for chunks in [[], sizes, [1]] {
        let passage = Passage(reading: stream, inChunksOf: chunks, side: side)
        require(passage == expected, "in chunks of \(chunks): \(passage), not \(expected)")
    }
    return 0
}

/// The result for all bytes of one direction.
private struct Passage: Equatable {
    var passedOn: [UInt8] = []
    var pings: [Ping] = []
    var isGreeted = false
    var lastStreamID: UInt32 = 0
    var answers = 0
    var goAways = 0
    var isAtBoundary = false

    /// An extracted PING, and the number of bytes passed on before it.
    struct Ping: Equatable {
        let offset: Int
        let data: UInt64
    }

    /// Reads `stream` in chunks of the given sizes, repeated; in one chunk if there are none.
    init(reading stream: [UInt8], inChunksOf sizes: [Int], side: HTTP2FrameReader.Side) {
        var reader = HTTP2FrameReader(side: side)
        let isWhole = sizes.allSatisfy { $0 == 0 }
        var start = 0
        var round = 0
        while start < stream.count {
            let size = isWhole ? stream.count : sizes[round % sizes.count]
            let end = min(start + size, stream.count)
            self.take(stream.span.extracting(start..<end), &reader)
            start = end
            round += 1
        }
        (self.isGreeted, self.lastStreamID) = (reader.isGreeted, reader.lastStreamID)
        (self.answers, self.goAways) = (reader.answers, reader.goAways)
        self.isAtBoundary = reader.isAtBoundary
    }

    private mutating func take(_ chunk: Span<UInt8>, _ reader: inout HTTP2FrameReader) {
        var offset = 0
        while let piece = reader.next(chunk, from: &offset) {
            switch piece {
            case .frame(let header, let range):
                require(header.bytes == Array(range.prefix(9).map { chunk[$0] }), "another header")
                require(range.count == 9 + header.length, "not the whole frame")
                chunk.extracting(range).withUnsafeBufferPointer { self.passedOn += $0 }
            case .part(let range):
                require(!range.isEmpty, "an empty piece")
                chunk.extracting(range).withUnsafeBufferPointer { self.passedOn += $0 }
            case .header(let header): self.passedOn += header.bytes
            case .ping(let data): self.pings.append(Ping(offset: self.passedOn.count, data: data))
            }
        }
        require(offset == chunk.count, "\(chunk.count - offset) bytes of a chunk were left")
    }

    /// Walks over the whole `stream`, frame by frame.
    init(walkingOver stream: [UInt8], side: HTTP2FrameReader.Side) {
        var rest = stream[...]
        if side == .client {
            let preface = HTTP2FrameReader.preface
            guard rest.starts(with: preface) else {
                self.passedOn = stream
                return
            }
            self.passedOn = preface
            rest = rest.dropFirst(preface.count)
        }
        var isFirst = true
        var isInHeaderBlock = false
        var isWhole = true
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            let (kind, flags) = (header[3], header[4])
            let stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
            let payload = rest.dropFirst(9).prefix(length)
            isWhole = payload.count == length
            if side == .client, kind == 6, flags & 1 == 0, length == 8, stream == 0,
                self.isGreeted, !isInHeaderBlock
            {
                // An incomplete PING is held back.
                guard isWhole else { return }
                let data = payload.reduce(0) { $0 << 8 | UInt64($1) }
                self.pings.append(Ping(offset: self.passedOn.count, data: data))
            } else {
                self.count(kind, stream)
                if [1, 5, 9].contains(kind) {
                    isInHeaderBlock = flags & 4 == 0 && (kind != 9 || isInHeaderBlock)
                }
                if isFirst, isWhole { self.isGreeted = kind == 4 && flags & 1 == 0 }
                isFirst = false
                self.passedOn += header + payload
            }
            rest = rest.dropFirst(9 + length)
        }
        self.isAtBoundary = rest.isEmpty && isWhole
        // A server's frames pass at once; a client's header is held back until it is complete.
        if side == .server { self.passedOn += rest }
    }

    private mutating func count(_ kind: UInt8, _ stream: UInt32) {
        if kind <= 1 { self.answers += 1 }
        if kind == 1 { self.lastStreamID = max(self.lastStreamID, stream) }
        if kind == 7 { self.goAways += 1 }
    }
}

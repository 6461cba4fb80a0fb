// Fuzzes the joining of DATA frames, and the counting and joining of their messages. The first
// bytes of an input are chunk sizes, the rest is frames. Joining must preserve the bytes of each
// stream and the position of all other frames, and remove the PINGs that the frame reader removes.
// Of messages, complete ones alone may be joined, and none may change.
@testable internal import HTTP2Edge
internal import NIOCore

/// The frames of one connection.
enum JoinedFramesFuzzer {
    static func run(_ input: [UInt8]) {
        var reader = ProgramReader(input)
        let choices = reader.byte()
        let sizes = reader.raw(Int(choices & 7)).map { Int($0) }
        let frames = reader.isAtEnd ? [] : Self.frames(&reader)
        let greeting = choices & 8 == 0 ? [] : Wire.frame(.settings, payload: [])
        let bytes = Wire.preface + greeting + frames
        let (whole, joined) = (Passage(unjoined: bytes), Passage(joined: bytes, sizes))
        let (expected, actual) = (Frames(whole.bytes), Frames(joined.bytes))
        guard expected == actual, whole.pings == joined.pings else {
            fatalError("in chunks of \(sizes): \(actual), \(joined.pings), not \(expected)")
        }
        guard
            Frames(joined.bytes, isMerged: false).longest
                <= max(
                    DataFrameCoalescer.maxJoinedBytes,
                    Frames(whole.bytes, isMerged: false).longest)
        else { fatalError("a joined frame is longer than any receiver has to take") }
        let messages = reader.isAtEnd ? frames : frames + reader.counted()
        self.checkMessages(messages, sizes)
        self.checkRequests(messages, sizes)
    }

    /// DATA frames mostly, and arbitrary bytes at the end.
    private static func frames(_ reader: inout ProgramReader) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<reader.byte() & 31 where !reader.isAtEnd {
            let choices = reader.byte()
            let kind = choices & 0xc0 == 0xc0 ? reader.byte() : 0
            let flags = choices & 0x30 == 0x30 ? reader.byte() : 0
            let payload = reader.counted()
            bytes +=
                Wire.header(
                    kind, flags: flags, stream: UInt32(choices & 3), length: payload.count)
                + payload
        }
        return bytes + reader.counted()
    }

    /// What passes of a connection's bytes, and the PINGs to answer.
    private struct Passage {
        var bytes: [UInt8] = []
        var pings: [UInt64] = []

        init(unjoined bytes: [UInt8]) {
            var reader = HTTP2FrameReader(side: .client)
            var offset = 0
            while let piece = reader.next(bytes.span, from: &offset) {
                switch piece {
                case .frame(_, let range), .part(let range): self.bytes += bytes[range]
                case .header(let header): self.bytes += header.bytes
                case .ping(let data): self.pings.append(data)
                }
            }
        }

        init(joined bytes: [UInt8], _ sizes: [Int]) {
            var gate = FrameGate()
            for chunk in JoinedFramesFuzzer.chunks(bytes, sizes) {
                let chunk = ByteBuffer(bytes: chunk)
                var offset = 0
                while let step = gate.next(in: chunk, from: &offset) {
                    if let bytes = step.bytes { self.bytes += bytes.readableBytesView }
                    if let ping = step.ping { self.pings.append(ping) }
                }
            }
        }
    }

    /// Chunks of the given sizes, repeated; a single chunk if there are none.
    private static func chunks(_ bytes: [UInt8], _ sizes: [Int]) -> [ArraySlice<UInt8>] {
        guard sizes.contains(where: { $0 > 0 }) else { return [bytes[...]] }
        var chunks: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + sizes[chunks.count % sizes.count], bytes.count)
            chunks.append(bytes[start..<end])
            start = end
        }
        return chunks
    }

    /// Whether messages are counted the same in one piece and in chunks.
    private static func checkMessages(_ bytes: [UInt8], _ sizes: [Int]) {
        var counter = MessageCounter(maxBytes: .max, maxCoalescedBytes: .max)
        var isFit = true
        for chunk in Self.chunks(bytes, sizes) {
            isFit = chunk.withUnsafeBytes { counter.advance(over: $0) } && isFit
        }
        let count = bytes.withUnsafeBytes { LengthPrefixedMessages.count(in: $0) }
        let isWhole = isFit && counter.isAtStart && !bytes.isEmpty
        guard (count != nil) == isWhole, count == nil || count == counter.count else {
            fatalError("\(counter.count) messages in pieces, and as a whole \(count ?? -1)")
        }
    }
}

extension JoinedFramesFuzzer {
    /// Whether what passes of a stream is its bytes, in pieces, with a prefix before some whole
    /// messages. A burst ends behind each chunk of odd size.
    private static func checkRequests(_ bytes: [UInt8], _ sizes: [Int]) {
        var counter = MessageCounter(maxBytes: .max, maxCoalescedBytes: 300)
        var coalescer = RequestCoalescer()
        var output = Output(bytes)
        for chunk in Self.chunks(bytes, sizes) {
            let (count, countedBytes) = (counter.count, counter.bytes)
            let isContinued = !counter.isAtStart
            let isFit = chunk.withUnsafeBytes { counter.advance(over: $0) }
            let isHeld = coalescer.add(
                ByteBuffer(bytes: chunk), messages: counter.count - count,
                bytes: counter.bytes - countedBytes, isContinued: isContinued, isFit: isFit)
            if chunk.count % 2 == 1 { coalescer.endBurst() }
            while let piece = coalescer.next() { output.take([UInt8](piece.readableBytesView)) }
            if !isHeld { output.take(Array(chunk)) }
        }
        coalescer.endBurst()
        while let piece = coalescer.next() { output.take([UInt8](piece.readableBytesView)) }
        guard output.isOver else { fatalError("in chunks of \(sizes), bytes stay behind") }
    }

    /// What passes of a stream's bytes.
    private struct Output {
        private var rest: ArraySlice<UInt8>
        private var counter = MessageCounter(maxBytes: .max)

        var isOver: Bool { self.rest.isEmpty }

        init(_ bytes: [UInt8]) { self.rest = bytes[...] }

        mutating func take(_ piece: [UInt8]) {
            guard !self.rest.starts(with: piece) else { return self.skip(piece.count) }
            let body = Array(piece.dropFirst(LengthPrefixedMessages.prefixBytes))
            let prefix = [0] + Wire.bytes(UInt32(body.count))
            let count = body.withUnsafeBytes { LengthPrefixedMessages.count(in: $0) }
            guard self.counter.isAtStart, piece.starts(with: prefix), count ?? 0 > 1,
                self.rest.starts(with: body)
            else { fatalError("\(piece) passes, where \(self.rest) is due") }
            self.skip(body.count)
        }

        private mutating func skip(_ count: Int) {
            _ = self.rest.prefix(count).withUnsafeBytes { self.counter.advance(over: $0) }
            self.rest = self.rest.dropFirst(count)
        }
    }
}

/// The meaning of frames, regardless of how DATA is split.
private struct Frames: Equatable {
    private var frames: [Frame] = []
    /// The longest payload.
    private(set) var longest = 0
    /// The bytes of an incomplete frame at the end.
    private var rest: [UInt8]

    private struct Frame: Equatable {
        /// The header without the length.
        let head: [UInt8]
        var payload: [UInt8]
    }

    static func == (left: Frames, right: Frames) -> Bool {
        left.frames == right.frames && left.rest == right.rest
    }

    init(_ bytes: [UInt8], isMerged: Bool = true) {
        self.rest = Array(bytes.dropFirst(Wire.preface.count))
        var start = 0
        while self.rest.count - start >= 9 {
            let header = self.rest[start..<start + 9]
            let length = header.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            guard self.rest.count - start - 9 >= length else { break }
            let head = Array(header.dropFirst(3))
            let payload = Array(self.rest[start + 9..<start + 9 + length])
            start += 9 + length
            self.longest = max(self.longest, length)
            if isMerged, head[0] == 0, head[1] == 0, !payload.isEmpty,
                let last = self.frames.last, last.head == head, !last.payload.isEmpty
            {
                self.frames[self.frames.count - 1].payload += payload
            } else {
                self.frames.append(Frame(head: head, payload: payload))
            }
        }
        self.rest.removeFirst(start)
    }
}

// Compressed files of lines: what a crash and other damage leave of them, and the files of both
// forms in one directory.
@testable internal import FileSinks
internal import Foundation
internal import Glibc
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import WireFormat

struct JSONLinesCompressionTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory(.memory) }

    private typealias Compression = JSONLinesConfiguration.Compression

    private func file(_ number: Int, _ compression: Compression = .zstd) -> LinesFile {
        LinesFile(number, compression, in: self.directory.path)
    }

    private func sink(
        _ compression: Compression = .zstd,
        _ change: (inout JSONLinesConfiguration) -> Void = { _ in }
    ) throws -> JSONLinesSink {
        var configuration = JSONLinesConfiguration.with { $0.compression = compression }
        change(&configuration)
        return try JSONLinesSink(directory: self.directory.path, configuration)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.directory.path).sorted()
    }

    /// A batch, and its lines.
    private func batch(_ id: Int, events: Int = 1) throws -> (hits: HitBatch, text: String) {
        let hits = try TestHits.batch((0..<events).map { TestEvents.full(id: id + $0) })
        var lines = try JSONLines()
        _ = try lines.encode(hits)
        return (hits, lines.bytes.text)
    }

    /// Three frames and their lines, of which the last has several blocks.
    private func threeFrames() async throws -> (frames: [Data], texts: [String]) {
        var (frames, texts, size): ([Data], [String], Int) = ([], [], 0)
        let sink = try self.sink()
        for (id, events) in [(1, 1), (2, 2), (3, 300)] {
            let batch = try self.batch(id, events: events)
            #expect(await sink.deliver(batch.hits) == .delivered)
            let bytes = try self.file(1).bytes
            frames.append(Data(bytes[size...]))
            texts.append(batch.text)
            size = bytes.count
        }
        #expect(texts[2].utf8.count > 128 << 10, "the last frame has one block only")
        return (frames, texts)
    }

    // MARK: Lines

    @Test("the lines are those of the other form, at the lowest and the highest level")
    func sameLines() async throws {
        let batches = try [(1, 1), (2, 400), (3, 1)].map { try self.batch($0, events: $1) }
        for level in [1, 19] {
            let sink = try self.sink { $0.zstdLevel = level }
            for batch in batches { #expect(await sink.deliver(batch.hits) == .delivered) }
            #expect(try self.file(1).text == batches.map(\.text).joined())
            #expect(try self.file(1).bytes.count * 5 < self.file(1).text.utf8.count)
            try FileManager.default.removeItem(atPath: self.file(1).path)
        }
    }

    @Test("each batch is a frame with a checksum, and an empty one is none")
    func frames() async throws {
        let frames = try await self.threeFrames().frames
        for frame in frames {
            // The magic number, and the flag of the checksum.
            #expect(Array(frame.prefix(4)) == [0x28, 0xb5, 0x2f, 0xfd] && frame[4] & 4 == 4)
        }
        let sink = try self.sink()
        let empty = HitBatch(journal: "j", sequence: 1, payload: [])
        #expect(await sink.deliver(empty) == .delivered)
        #expect(try self.file(1).bytes == frames.reduce(Data(), +))
    }

    @Test("after a frame that could not be written, the next is whole")
    func failedWrite() throws {
        let writer = try ZstdWriter(level: 1)
        // Long enough for several writes.
        var dice = Dice(seed: 1)
        let text = (0..<50_000).map { _ in "\(dice.next())\n" }.joined()
        #expect(throws: WriteError.self) { try text.withBytes { try writer.write($0, to: -1) } }
        let descriptor = Glibc.open(self.file(1).path, O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        let count = try text.withBytes { try writer.write($0, to: descriptor) }
        #expect(try self.file(1).text == text && self.file(1).bytes.count == count)
    }

    @Test("a failure of libzstd makes the sink unavailable, with the reason")
    func failure() throws {
        let error = #expect(throws: ZstdError.self) { try ZstdError.check(-64, "compress") }
        let answer = SinkAnswer(failure: try #require(error))
        #expect(
            answer == .unavailable(reason: "cannot compress: Allocation error : not enough memory"))
    }

    // MARK: Damage

    @Test("an incomplete frame is cut off at the start, wherever it ends, and whole ones stay")
    func tornFrame() async throws {
        let (frames, texts) = try await self.threeFrames()
        let next = try self.batch(9)
        let whole = frames[0] + frames[1]
        // In the third frame each byte of the headers, and some of those in between.
        let ends =
            Array(0..<200) + Array(stride(from: 200, to: frames[2].count - 200, by: 97))
            + Array(frames[2].count - 200..<frames[2].count)
        for (before, frame) in [(frames[0], frames[1]), (whole, frames[2])] {
            for end in ends where end < frame.count {
                try self.file(1).write(before + frame.prefix(end))
                let sink = try self.sink()
                #expect(try self.file(1).bytes == before, "cut at \(end)")
                #expect(await sink.deliver(next.hits) == .delivered)
                let text = (before == whole ? texts[0] + texts[1] : texts[0]) + next.text
                #expect(try self.file(1).text == text, "cut at \(end)")
            }
        }
        #expect(try self.names() == [self.file(1).name])
    }

    @Test("space that was never written is cut off, whether a frame begins there or not")
    func zeros() async throws {
        let frames = try await self.threeFrames().frames
        for begun in [0, 4, 9, 100, 2000] {
            for zeros in [1, 4096, 200_000] {
                try self.file(1).write(frames[0] + frames[2].prefix(begun) + Data(count: zeros))
                _ = try self.sink()
                #expect(try self.file(1).bytes == frames[0], "\(begun), \(zeros)")
            }
        }
        #expect(try self.names() == [self.file(1).name])
    }

    @Test("a changed byte costs no frame but the last, and the sink goes on")
    func changedByte() async throws {
        let (frames, _) = try await self.threeFrames()
        let (whole, next) = (frames.reduce(Data(), +), try self.batch(9))
        let lastStart = frames[0].count + frames[1].count
        let starts = [0, frames[0].count, lastStart]
        // Around each frame's headers every byte, and some of those in between.
        let places = (0..<lastStart + 60).filter { place in
            place % 7 == 0 || starts.contains { abs(place - $0) < 20 }
        }
        var kept = 0
        for place in places + [whole.count - 1] {
            for bits: UInt8 in [0x01, 0x80, 0xff] {
                var changed = whole
                changed[place] ^= bits
                try self.file(1).write(changed)
                let sink = try self.sink()
                let left = try self.file(1).bytes
                let isKept = left == changed
                kept += isKept ? 1 : 0
                #expect(
                    isKept || place >= lastStart && left == changed[..<lastStart],
                    "byte \(place), bits \(bits): \(left.count) bytes are left")
                #expect(await sink.deliver(next.hits) == .delivered)
                let newest = try #require(try self.names().last)
                #expect(newest == self.file(1).name || isKept)
                if newest != self.file(1).name {
                    #expect(try self.file(2).text == next.text)
                    try FileManager.default.removeItem(atPath: self.file(2).path)
                }
            }
        }
        #expect(kept > places.count(where: { $0 < lastStart }) * 3)
    }

    @Test(
        "what is no frame, or a frame that cannot be decoded, stays, and the next file is begun",
        arguments: ["hello", "hello\n", "(", "(/", "(\0\0", "\0\0a", "wrong checksum"])
    func unknownBytes(_ tail: String) async throws {
        let (frames, _) = try await self.threeFrames()
        var bytes = frames[0] + frames[1]
        if tail == "wrong checksum" {
            bytes[bytes.count - 1] ^= 1
        } else {
            bytes += Data(tail.utf8)
        }
        try self.file(1).write(bytes)
        let next = try self.batch(9)
        for _ in 0..<2 { #expect(try await self.sink().deliver(next.hits) == .delivered) }
        // It may be how a frame begins.
        let isBeginning = tail == "("
        let left = try self.file(1).bytes
        #expect(left.prefix(frames[0].count) == frames[0])
        #expect(isBeginning || left == bytes)
        #expect(try self.file(isBeginning ? 1 : 2).text.hasSuffix(next.text + next.text))
        #expect(try self.names().count == (isBeginning ? 1 : 2))
    }

    // MARK: Both forms

    @Test("a change of the compression begins the next file, and cuts off half a line before")
    func change() async throws {
        let batches = try (1...4).map { try self.batch($0) }
        for (index, compression) in [Compression.none, .none, .zstd, .none].enumerated() {
            let sink = try self.sink(compression)
            #expect(await sink.deliver(batches[index].hits) == .delivered)
            if index == 1 {
                try self.file(1, .none).write(self.file(1, .none).bytes + Data("{\"hi".utf8))
            }
        }
        #expect(
            try self.names()
                == [self.file(1, .none), self.file(2), self.file(3, .none)].map(\.name))
        #expect(try self.file(1, .none).text == batches[0].text + batches[1].text)
        #expect(try self.file(2).text == batches[2].text)
        #expect(try self.file(3, .none).text == batches[3].text)
    }

    @Test(
        "of two files with one number none is touched, and the next is begun",
        arguments: JSONLinesConfiguration.Compression.allCases)
    func sameNumber(_ compression: JSONLinesConfiguration.Compression) async throws {
        let batch = try self.batch(1)
        #expect(try await self.sink().deliver(batch.hits) == .delivered)
        // As decompressing leaves them, while it is under way.
        let half = Data(try self.file(1).text.utf8.prefix(100))
        try self.file(1, .none).write(half)
        let bytes = try self.file(1).bytes
        for _ in 0..<2 {
            #expect(try await self.sink(compression).deliver(batch.hits) == .delivered)
        }
        #expect(try self.file(1).bytes == bytes && self.file(1, .none).bytes == half)
        #expect(try self.file(2, compression).text == batch.text + batch.text)
        #expect(try self.names().count == 3)
    }

    @Test("the limits count files of both forms, by their size on the disk")
    func retention() async throws {
        let batch = try self.batch(1, events: 20)
        for compression in [Compression.none, .zstd, .none, .zstd] {
            #expect(try await self.sink(compression).deliver(batch.hits) == .delivered)
        }
        let (plain, compressed) = (
            try self.file(1, .none).bytes.count, try self.file(2).bytes.count
        )
        // The newest full files are 4, 3 and 2, and then comes 1, of which a byte has no room.
        let sink = try self.sink {
            $0.fileBytes = 1
            $0.maxBytes = 2 * plain + 2 * compressed - 1
        }
        #expect(await sink.deliver(batch.hits) == .delivered)
        let left = [self.file(2), self.file(3, .none), self.file(4), self.file(5)]
        #expect(try self.names() == left.map(\.name))
        let few = try self.sink {
            $0.fileBytes = 1
            $0.retainFiles = 3
        }
        #expect(await few.deliver(batch.hits) == .delivered)
        #expect(try self.names() == (left.dropFirst() + [self.file(6)]).map(\.name))
    }
}

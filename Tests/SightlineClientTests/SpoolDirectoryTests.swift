// A spool on the system's disk.
internal import Foundation
internal import SightlineClient
internal import TestSupport
internal import Testing

struct SpoolDirectoryTests {
    private let folder: TemporaryDirectory
    private var path: String { self.folder.file("spool") }

    init() throws { self.folder = try TemporaryDirectory() }

    private func log() throws -> SpoolLog {
        SpoolLog(disk: try SpoolDirectory(self.path), maxBytes: 1 << 20, segmentBytes: 1 << 10)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.path)
            .filter { $0.hasSuffix(".spool") }.sorted()
    }

    @Test("what one owner leaves, the next one finds, and what is released goes")
    func reopen() throws {
        do {
            var log = try self.log()
            #expect(try log.recover() == [])
            for number: UInt8 in 0..<3 {
                _ = try log.append([UInt8](repeating: number, count: 600))
            }
            try log.close()
        }
        #expect(try self.names() == ["0000000000000001.spool", "0000000000000002.spool"])
        var log = try self.log()
        let left = try log.recover()
        #expect(left.map(\.bytes.first) == [0, 1, 2] && left.map(\.place.segment) == [1, 1, 2])
        for event in left { log.release([event.place]) }
        try log.close()
        #expect(try self.names() == [])
    }

    @Test("a small file is emptied with its last event, and goes on")
    func emptied() throws {
        do {
            var log = try self.log()
            _ = try log.recover()
            let places = try ["first", "second"].map { try log.append(Array($0.utf8)) }
            for place in places { log.release([place]) }
            #expect(log.byteCount == SpoolRecords.magic.count + SpoolMarks.magic.count)
            _ = try log.append(Array("third".utf8))
            #expect(try self.names() == ["0000000000000001.spool"])
            // It ends without `close`, as by kill -9.
        }
        var next = try self.log()
        #expect(try next.recover().map(\.bytes) == [Array("third".utf8)])
    }

    @Test("the file has the form that the other libraries read and write")
    func form() throws {
        do {
            var log = try self.log()
            _ = try log.recover()
            _ = try log.append(Array("first".utf8))
        }
        let file = FileManager.default.contents(atPath: self.path + "/0000000000000001.spool")
        let expected = SpoolRecords.magic + SpoolRecords.record(of: Array("first".utf8)).bytes
        #expect(file.map(Array.init) == expected)
    }

    @Test("a directory has one owner")
    func lock() throws {
        do {
            let first = try SpoolDirectory(self.path)
            #expect(throws: SpoolError.locked(directory: self.path)) {
                try SpoolDirectory(self.path)
            }
            _ = first
        }
        _ = try SpoolDirectory(self.path)
    }

    @Test("a torn tail is cut, and damage is told of with its file and its byte")
    func damage() throws {
        do {
            var log = try self.log()
            _ = try log.recover()
            for _ in 0..<3 { _ = try log.append([1, 2, 3]) }
        }
        let file = self.path + "/0000000000000001.spool"
        let whole = try #require(FileManager.default.contents(atPath: file))
        try whole.dropLast().write(to: URL(filePath: file))
        do {
            var log = try self.log()
            #expect(try log.recover().count == 2)
            #expect(log.cutByteCount == 10)
        }
        #expect(FileManager.default.contents(atPath: file)?.count == 8 + 2 * 11)
        var changed = whole
        changed[8 + 11 + 8] ^= 1
        try changed.write(to: URL(filePath: file))
        var log = try self.log()
        let error = #expect(throws: SpoolError.damaged(file: file, byte: 19)) {
            try log.recover()
        }
        #expect(error?.description.contains("\(file) is damaged at byte 19") == true)
        // Nothing was changed.
        #expect(FileManager.default.contents(atPath: file) == changed)
    }

    @Test("a directory that cannot be made is told of")
    func missing() throws {
        let path = self.folder.file("file")
        try Data().write(to: URL(filePath: path))
        #expect(throws: SpoolError.self) { try SpoolDirectory(path + "/spool") }
    }

    @Test("the limit is kept, and an event has room where nothing else is held")
    func room() throws {
        let disk = try SpoolDirectory(self.path)
        var log = SpoolLog(disk: disk, maxBytes: 100, segmentBytes: 100)
        _ = try log.recover()
        #expect(log.hasRoom(for: 1000))
        let place = try log.append([UInt8](repeating: 0, count: 30))
        // 62 bytes are used, with the file's marks; an event of 6 more, in a file of its own.
        #expect(log.hasRoom(for: 6) && !log.hasRoom(for: 7))
        log.release([place])
        #expect(log.hasRoom(for: 1000))
        _ = try log.append([UInt8](repeating: 0, count: 1000))
        #expect(!log.hasRoom(for: 1))
        #expect(log.byteCount == 1032)
    }
}

// Overwrites a subject's id in the lines of the jsonl sink, where they stand: no line moves, and a
// reader that is under way sees either id.
internal import Foundation
internal import SinkKit

/// An erasure in the directory of the jsonl sink, some lines of a file at a time. In between, lines
/// are appended, and files are begun, deleted, moved and decompressed. A file is known by its inode
/// and stays open until it is searched, so none is passed because it has another name by then. What
/// the sink appends after the beginning has no subject any more.
struct LinesErasure: Sendable {
    private let directory: JSONLinesDirectory
    private let subject: Subject
    /// What stands in the subject's lines.
    private let needles: [Data]
    /// The number of the newest file at the beginning.
    private let newest: Int
    /// The files that are listed and not searched yet, the next one last.
    private var listed: [JSONLinesDirectory.File]
    /// The files that were searched, or are being.
    private var searched: Set<FileID> = []
    /// The file that is being searched, and where the next line begins.
    private var current: (file: OpenLines, offset: Int)?
    /// The lines that had the id.
    private var erased = 0

    /// The bytes that are read in one piece: batches wait for some 20 ms. A longer line is read
    /// whole.
    private static let pieceBytes = 1 << 20
    private static let (newline, mask) = (UInt8(ascii: "\n"), UInt8(ascii: "*"))

    /// Begins an erasure.
    ///
    /// - Throws: the file system's error.
    init(of subject: Subject, in directory: JSONLinesDirectory) throws {
        (self.subject, self.directory) = (subject, directory)
        self.needles = try subject.ids.map(JSONLinesFile.needle(of:))
        let files = try directory.files()
        self.newest = files.last?.number ?? 0
        self.listed = Self.plain(files)
    }

    private static func plain(_ files: [JSONLinesDirectory.File]) -> [JSONLinesDirectory.File] {
        files.filter { $0.compression == .none }.reversed()
    }

    /// Overwrites the ids in the next lines.
    ///
    /// - Returns: the result of all, if there are none left. What stays as it is, is told:
    ///   compressed files, and what is no file of the sink.
    /// - Throws: the file system's error.
    mutating func next() throws -> Erasure? {
        if self.current == nil { self.current = try self.nextFile().map { (file: $0, offset: 0) } }
        guard let current else {
            return .erased(self.erased, except: try self.directory.untouched())
        }
        try self.search(current.file, from: current.offset)
        return nil
    }

    /// The next file that was not searched yet; nil if there is none, nor has one come meanwhile.
    private mutating func nextFile() throws -> OpenLines? {
        if let file = try self.nextListed() { return file }
        self.listed = Self.plain(try self.directory.files()).filter { $0.number <= self.newest }
        return try self.nextListed()
    }

    private mutating func nextListed() throws -> OpenLines? {
        while let next = self.listed.popLast() {
            let file = try OpenLines(opening: self.directory.path(of: next))
            if let file, self.searched.insert(file.id).inserted { return file }
        }
        return nil
    }

    private mutating func search(_ file: OpenLines, from offset: Int) throws {
        var wanted = Self.pieceBytes
        while true {
            let piece = try file.read(from: offset, upTo: wanted)
            if let end = piece.lastIndex(of: Self.newline) {
                try self.overwrite(in: piece[...end], of: file, from: offset)
                self.current = (file, offset + end + 1)
                return
            }
            // The rest is no line, if there is any.
            if piece.count < wanted { break }
            wanted *= 2
        }
        self.current = nil
    }

    /// - Parameter offset: where the lines begin in the file.
    private mutating func overwrite(
        in lines: Data, of file: OpenLines, from offset: Int
    ) throws {
        guard self.needles.contains(where: { lines.range(of: $0) != nil }) else { return }
        var (rest, hasChanged) = (lines, false)
        while let end = rest.firstIndex(of: Self.newline) {
            let ids = try JSONLinesFile.ids(self.needles, self.subject.tenant, in: rest[..<end])
            for id in ids {
                let mask = [UInt8](repeating: Self.mask, count: id.count)
                try file.write(mask, at: offset + id.lowerBound - lines.startIndex)
            }
            self.erased += ids.isEmpty ? 0 : 1
            hasChanged = hasChanged || !ids.isEmpty
            rest = rest[(end + 1)...]
        }
        if hasChanged { try file.sync() }
    }
}

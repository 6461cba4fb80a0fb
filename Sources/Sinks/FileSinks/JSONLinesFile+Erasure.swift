// Overwrites a subject's id in the lines of the jsonl sink, where they stand: no line moves, and a
// reader that is under way sees either id.
internal import Foundation
internal import Glibc
internal import Pacing
package import SinkKit
internal import WireFormat

extension JSONLinesDirectory {
    /// Overwrites the ids of a subject in the files of plain lines. What stays as it is, is told:
    /// compressed files, and what is no file of the sink.
    func erase(_ subject: Subject) -> Erasure {
        do {
            let files = try self.files()
            let erased = try files.filter { $0.compression == .none }.reduce(0) { erased, file in
                try erased + JSONLinesFile.erase(subject, in: self.path(of: file))
            }
            return .erased(erased, except: try self.untouched(besides: files))
        } catch {
            return .failed("\(self.path): \(error)")
        }
    }

    /// The maximum number of foreign files that are told by their names.
    private static let maxNamed = 16

    /// What an erasure has not changed; empty if there is nothing.
    private func untouched(besides files: [File]) throws -> String {
        var untouched: [String] = []
        let compressed = files.filter { $0.compression != .none }
        if let first = compressed.first, let last = compressed.last {
            untouched.append(
                "compressed files cannot be changed, and have the hits of their time until they "
                    + "are deleted: \(first.name) to \(last.name)")
        }
        let own = Set(files.map(\.name))
        let others = try FileManager.default.contentsOfDirectory(atPath: self.path)
            .filter { !own.contains($0) }.sorted()
        if !others.isEmpty {
            let rest = others.count - Self.maxNamed
            untouched.append(
                "what is no file of the sink was not looked through: "
                    + others.prefix(Self.maxNamed).joined(separator: ", ")
                    + (rest > 0 ? " and \(rest) more" : ""))
        }
        return untouched.joined(separator: "; ")
    }
}

/// What sinks of an earlier configuration have left in directories that no sink writes to.
package actor FormerJSONLines {
    /// Reading files blocks.
    private let executor = QueueExecutor(label: "sightline.sink.jsonl")
    /// A queue of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let directory: JSONLinesDirectory

    /// The files of a directory.
    package init(directory: String) { self.directory = JSONLinesDirectory(at: directory) }

    /// Overwrites a subject's id in them, as the sink would.
    package func erase(_ subject: Subject) -> Erasure { self.directory.erase(subject) }
}

extension JSONLinesFile {
    /// The bytes that are read at once; a longer line is read whole.
    private static let pieceBytes = 1 << 20
    private static let mask = UInt8(ascii: "*")

    /// Overwrites the ids of a subject in a file of plain lines.
    ///
    /// - Returns: how many lines had one.
    /// - Throws: the file system's error.
    static func erase(_ subject: Subject, in path: String) throws -> Int {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        // Deleted meanwhile.
        if descriptor < 0, errno == ENOENT { return 0 }
        guard descriptor >= 0 else { throw WriteError(number: errno, action: "open \(path)") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let needles = try subject.ids.map(Self.needle(of:))
        let tenant = subject.tenant
        var (line, start, erased) = (Data(), 0, 0)
        while let piece = try file.read(upToCount: Self.pieceBytes), !piece.isEmpty {
            line += piece
            while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
                let text = line[..<end]
                let ids = try Self.ids(needles, tenant, in: text)
                for id in ids {
                    try Self.overwrite(
                        id.lowerBound - line.startIndex + start, id.count, descriptor)
                }
                erased += ids.isEmpty ? 0 : 1
                start += end + 1 - line.startIndex
                line = line[(end + 1)...]
            }
            // Drops what was read.
            line = Data(line)
        }
        guard fdatasync(descriptor) == 0 else { throw WriteError(number: errno) }
        return erased
    }

    /// Where the ids stand in a line of the subject; nowhere in any other line.
    private static func ids(
        _ needles: [Data], _ tenant: String, in line: Data
    ) throws -> [Range<Data.Index>] {
        for needle in needles {
            // A field of somebody else's event may look the same, so the line decides.
            guard line.range(of: needle) != nil, let parsed = try? Line(line),
                parsed.tenant == tenant, try Self.needle(of: parsed.event.subjectId ?? "") == needle
            else { continue }
            var (ids, rest) = ([Range<Data.Index>](), line)
            while let range = rest.range(of: needle) {
                // The id without its key and quotes.
                ids.append(range.lowerBound + Self.key.count + 1..<range.upperBound - 1)
                rest = rest[range.upperBound...]
            }
            return ids
        }
        return []
    }

    private static func overwrite(
        _ offset: Int, _ count: Int, _ descriptor: CInt
    ) throws(WriteError) {
        let mask = [UInt8](repeating: Self.mask, count: count)
        guard pwrite(descriptor, mask, count, offset) == count else {
            throw WriteError(number: errno)
        }
    }

    private static let key = Data("\"subjectId\":".utf8)

    /// What stands in a line of the subject: the key with the id as our writer escapes it.
    private static func needle(of id: String) throws -> Data {
        var text = TextBuffer(capacity: 512)
        try id.withBytes { try text.append(quoting: $0) }
        return self.key + Data(text.bytes)
    }

    /// What is looked at in a line.
    private struct Line: Decodable {
        struct Event: Decodable { let subjectId: String? }
        let tenant: String
        let event: Event

        init(_ line: Data) throws {
            self = try JSONDecoder().decode(Line.self, from: line)
        }
    }
}

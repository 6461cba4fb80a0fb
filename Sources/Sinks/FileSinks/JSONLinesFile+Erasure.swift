// What an erasure looks for in the files of the jsonl sink, and what it leaves as it is.
internal import Foundation
internal import SinkKit
internal import WireFormat

extension JSONLinesDirectory {
    /// The maximum number of foreign files that are told by their names.
    private static let maxNamed = 16

    /// What an erasure has not changed; empty if there is nothing.
    func untouched() throws -> String {
        let files = try self.files()
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

extension JSONLinesFile {
    /// Where the ids stand in a line of the subject; nowhere in any other line.
    static func ids(
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

    private static let key = Data("\"subjectId\":".utf8)

    /// What stands in a line of the subject: the key with the id as our writer escapes it.
    static func needle(of id: String) throws -> Data {
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

// A file that batches are appended to, when appending fails.
@testable internal import FileSinks
internal import Foundation
internal import Glibc
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import WireFormat

struct JSONLinesFileTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private static func write(_ text: String, to descriptor: CInt) throws -> Int {
        try text.withBytes { try FileWriter.write($0, to: descriptor) }
        return text.utf8.count
    }

    @Test("what a failed append leaves is cut off before the next, which waits until that works")
    func rest() throws {
        let first = JSONLinesDirectory.File(number: 1, compression: .none)
        var file = try JSONLinesFile(
            first, in: try JSONLinesDirectory(creating: self.directory.path))
        let lines = LinesFile(1, in: self.directory.path)
        try file.append { try Self.write("one\n", to: $0) }
        // A descriptor that may only read cannot cut anything off.
        let readOnly = Glibc.open(lines.path, O_RDONLY)
        var (descriptor, writable): (CInt, CInt) = (-1, -1)
        do {
            try file.append {
                (descriptor, writable) = ($0, dup($0))
                _ = try Self.write("half a li", to: $0)
                dup2(readOnly, $0)
                throw WriteError(number: EIO)
            }
            Issue.record("the append did not fail")
        } catch let error as WriteError { #expect(error.number == EIO) }
        do {
            try file.append { try Self.write("lost\n", to: $0) }
            Issue.record("a line went behind half a line")
        } catch let error as WriteError { #expect(error.action == "truncate") }
        #expect(try lines.text == "one\nhalf a li")
        dup2(writable, descriptor)
        try file.append { try Self.write("two\n", to: $0) }
        #expect(try lines.text == "one\ntwo\n" && file.size == 8)
        close(readOnly)
        close(writable)
    }
}

// Lines cut at any byte, and what is told of bad ones.
internal import SightlineProtos
internal import Testing
internal import sightline

struct NDJSONReaderTests {
    private func read(_ text: String, pieceByteCount: Int = .max) -> [NDJSONLine] {
        var reader = NDJSONReader()
        var lines: [NDJSONLine] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(pieceByteCount)
            lines += reader.feed(piece)
            rest = rest.dropFirst(piece.count)
        }
        if let last = reader.finish() { lines.append(last) }
        return lines
    }

    private func ids(_ lines: [NDJSONLine]) -> [String] {
        lines.map { line in
            switch line {
            case .event(let event, let number): "\(number):\(event.eventID)"
            case .bad(let bad): "\(bad.line):bad"
            }
        }
    }

    private func bad(_ text: String) throws -> BadLine {
        let lines = self.read(text)
        guard case .bad(let bad) = try #require(lines.first) else {
            Issue.record("the line is good")
            return BadLine(line: 0, column: nil, reason: "")
        }
        return bad
    }

    @Test("pieces may end at any byte", arguments: 1...40)
    func pieces(byteCount: Int) {
        let text = "{\"eventId\":\"é1\"}\r\n\n  \n{\"eventId\":\"e2\"}\nx\n{\"eventId\":\"e3\"}"
        let lines = self.read(text, pieceByteCount: byteCount)
        #expect(self.ids(lines) == ["1:é1", "4:e2", "5:bad", "6:e3"])
    }

    @Test("a line may have maxLineByteCount bytes, and not one more")
    func longLines() {
        let event = "{\"eventId\":\"e\"}"
        let blanks = NDJSONReader.maxLineByteCount - event.utf8.count
        let fitting = event + String(repeating: " ", count: blanks)
        let lines = self.read(fitting + "\n" + fitting + " \n" + event, pieceByteCount: 65_536)
        #expect(self.ids(lines) == ["1:e", "2:bad", "3:e"])
    }

    @Test(
        "no JSON: the column of the first wrong character",
        arguments: [
            ("{\"eventId\":\"b\",}", 16), ("{\"é\" 1}", 6), ("nul", 4), ("{} x", 4), ("[1 2]", 4),
            ("{\"a\":01}", 7), ("{\"a\":\"\\x\"}", 8), ("{\"a\":1", 7), ("{\"a\":-}", 7),
            ("{\"a\":1e}", 8), ("tru}", 4),
        ])
    func columns(text: String, column: Int) throws {
        #expect(try self.bad(text).column == column)
    }

    @Test("an unknown field is named, with its column")
    func unknownField() throws {
        let bad = try self.bad("{\"eventId\":\"c\",\"foo\":1}")
        #expect(bad.column == 16)
        #expect(bad.reason.contains("\"foo\""))
    }

    @Test("JSON of another shape says what is wrong")
    func otherShapes() throws {
        #expect(try self.bad("{\"occurTime\":\"yesterday\"}").reason.contains("a time is not"))
        #expect(try self.bad("{\"push\":{\"kind\":\"X\"}}").reason.contains("an enum"))
        #expect(try self.bad("[]").column == nil)
    }

    @Test("deep nesting is bad, and ends no process")
    func depth() throws {
        let text = String(repeating: "[", count: 100_000)
        #expect(try self.bad(text).line == 1)
    }
}

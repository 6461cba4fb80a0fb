// What the door refuses itself, in the words of docs/errors.md.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTPDoor
internal import Testing

struct ConnectRefusalTests {
    private static let examples: [ConnectRefusal] = [
        .malformed("request", "words"), .tooLarge("request", limit: 1, fix: "words"),
        .messageCount("words"), .unimplemented("words"), .internalFailure,
    ]

    @Test("each reason stands in docs/errors.md with its code and its details")
    func page() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        #expect(Set(Self.examples.map(\.reason)) == Set(ConnectRefusal.Reason.allCases))
        for example in Self.examples {
            let row = try #require(
                page.split(separator: "\n").first { $0.hasPrefix("| `\(example.reason.rawValue)`") }
            )
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let answer = example.answer
            #expect(cells[1] == ConnectCode.of(answer.status.code).name.uppercased())
            let bytes = try #require(answer.metadata[binaryValues: DoorAnswer.detailsKey].first())
            let status = try GoogleRPCStatus(serializedBytes: bytes)
            #expect(status.details.first?.errorInfo?.reason == example.reason.rawValue)
            #expect(status.details.first?.errorInfo?.domain == "sightline.v1")
            let hasBadRequest = status.details.contains { $0.badRequest != nil }
            #expect(hasBadRequest == (cells.last == "BadRequest"), "\(example.reason)")
        }
    }

    @Test("a client's text is shown escaped, and 64 bytes of it at most")
    func shown() {
        #expect(ConnectRefusal.shown("a\n") == "a\\u{a}")
        #expect(ConnectRefusal.shown(String(repeating: "a", count: 64)).utf8.count == 64)
        #expect(ConnectRefusal.shown(String(repeating: "a", count: 65)).hasSuffix("a…"))
    }
}

extension Sequence {
    fileprivate func first() -> Element? { self.first { _ in true } }
}

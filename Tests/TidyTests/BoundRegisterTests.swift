// Nothing that all tenants share is without a share, or a reason why it needs none.
internal import Foundation
internal import Testing

struct BoundRegisterTests {
    private static let all = BoundRegister.keys + BoundRegister.tables

    private static func names(_ rows: [BoundRow]) -> [String] { rows.flatMap(\.names) }

    /// What is wrong with a register: what it does not have, has twice, or has although it is gone.
    private static func problems(_ rows: [BoundRow], of found: Set<String>) -> [String] {
        let names = Self.names(rows)
        let missing = found.subtracting(names).sorted()
        let gone = Set(names).subtracting(found).sorted()
        let doubled = Set(names.filter { name in names.count { $0 == name } > 1 }).sorted()
        var problems = missing.map { "\($0) is not in the register: say whose it is" }
        problems += gone.map { "\($0) is in the register, and gone" }
        problems += doubled.map { "\($0) is in the register twice" }
        return problems
    }

    @Test("every key of an amount is in the register, and says whose the amount is")
    func keys() throws {
        let found = BoundSearch.keys(in: try SourceFile.repository(file: "docs/configuration.md"))
        #expect(found.count > 50, "the table is not where the test looks for it")
        #expect(Self.problems(BoundRegister.keys, of: found) == [])
    }

    @Test("every queue and table of the server is in the register, and says whose it is")
    func tables() throws {
        let found = Set(try SourceFile.all().flatMap { BoundSearch.tables(in: $0) })
        #expect(found.count > 100, "the sources are not where the test looks for them")
        #expect(Self.problems(BoundRegister.tables, of: found) == [])
    }

    @Test("what is shared has a share that a test proves, or a reason why it needs none")
    func owners() throws {
        let root = SourceFile.root.appending(path: "Tests")
        let tests = try FileManager.default.subpathsOfDirectory(atPath: root.path())
            .filter { $0.hasSuffix("Tests.swift") && !$0.hasPrefix("TidyTests/") }
            .map { try String(contentsOf: root.appending(path: $0), encoding: .utf8) }
            .joined()
        for row in Self.all {
            switch row.owner {
            case .one(let owner): #expect(!owner.isEmpty, "\(row.names)")
            case .shares(let title):
                #expect(tests.contains("\"\(title)\""), "\(row.names): \(title)")
            case .common(let reason):
                #expect(reason.split(separator: " ").count > 5, "\(row.names) need a reason")
            }
        }
    }

    @Test("docs/security.md names every key that tenants share")
    func page() throws {
        let page = try SourceFile.repository(file: "docs/security.md")
        for row in BoundRegister.keys {
            guard case .shares = row.owner else { continue }
            for key in row.names { #expect(page.contains("`\(key)`"), "\(key)") }
        }
    }

    // MARK: The search can find

    @Test(
        "a queue or table that is new is found, however it is held",
        arguments: [
            "    private var waiting: [Int] = []", "    var waiting: [UInt64: Int]",
            "    private let waiting = Mutex<[Int]>([])", "    let waiting: Mutex<Deque<Int>>",
            "    private let waiting = Mutex(Turns<Int>())",
            "    private(set) var waiting = [Int]()",
            "    @exclusivity(unchecked) package var waiting: Set<Int> = []",
            "    let waiting: AsyncStream<Int>.Continuation",
            "    private static let waiting = Mutex<[Int: Int]>([:])",
            "    private var waiting: Deque<(sequence: Int, group: [Int])> = []",
        ])
    func found(_ line: String) {
        let text = "final class Hall: Sendable {\n    let a = 1\n\n\(line)\n}\n"
        for (path, name) in [
            ("Edge/HTTP2Edge/Streams/Hall.swift", "HTTP2Edge/Hall"),
            ("Commands/sightline/Hall.swift", nil),
        ] {
            let found = BoundSearch.tables(in: SourceFile(path: path, text: text))
            #expect(found == Set([name].compactMap(\.self)))
        }
        let nested = text.replacing("    let a = 1", with: "    struct State {\n    \(line)\n    }")
        let found = BoundSearch.tables(
            in: SourceFile(path: "Core/TrackingJournal/Hall.swift", text: nested))
        #expect(found == ["TrackingJournal/Hall", "TrackingJournal/Hall.State"])
    }

    @Test(
        "what cannot grow is none, nor what a function keeps",
        arguments: [
            "    private let names: [Int]", "    private let names = [1, 2]", "    var count = 0",
            "    var names: [Int] { self.all }", "    var kinds: HitKinds = []",
            "    private let count = Mutex(0)", "        var found: [Int] = []",
            "    // var waiting: [Int] = []", "    func names() -> [Int] { [] }",
        ])
    func notFound(_ line: String) {
        let text = "final class Hall {\n    func walk() {\n    }\n\(line)\n}\n"
        let file = SourceFile(path: "Edge/HTTP2Edge/Hall.swift", text: text)
        #expect(BoundSearch.tables(in: file) == [])
    }

    @Test("a key of an amount is found, and none of a time or of words")
    func amounts() {
        let page = """
            | key | variable | default | unit | values | reload | meaning |
            | --- | --- | --- | --- | --- | --- | --- |
            | `a.bytes` | `A_BYTES` | `1` | bytes | 1 to 20 |  | bytes |
            | `a.seconds` | `A_SECONDS` | `1` | seconds | 1 to 20 |  | seconds |
            | `a.mode` | `A_MODE` | `on` |  | `on`, `off` |  | from one to another |
            """
        #expect(BoundSearch.keys(in: page) == ["a.bytes"])
        #expect(Self.problems([], of: ["a.bytes"]).count == 1)
        #expect(Self.problems([BoundRow(.one("a"), "a", "b", "b")], of: ["a", "b"]).count == 1)
        #expect(Self.problems([BoundRow(.one("a"), "a")], of: []).count == 1)
    }
}

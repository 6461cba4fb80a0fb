// What holds of every key, whoever adds it.
internal import ConfigurationKeys
internal import Foundation
internal import Testing
internal import WireFormat

@testable internal import ServerConfiguration

struct ConfigurationKeyTests {
    @Test("no two keys have one name, or one variable, and none is another's section")
    func names() {
        let names = ServerConfiguration.keys.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(ServerConfiguration.keys.map(\.environmentVariable)).count == names.count)
        #expect(Set(names).isDisjoint(with: ConfigurationFile.sections))
    }

    @Test("the keys of a section stand together")
    func sections() {
        let sections = ServerConfiguration.keys.map(\.section)
        let begins = zip(sections, sections.dropFirst()).count { $0 != $1 } + 1
        #expect(begins == Set(sections).count)
    }

    @Test("a key is dotted lower case with underscores", arguments: ServerConfiguration.keys)
    func form(_ key: ServerConfiguration.Key) throws {
        #expect(key.name.wholeMatch(of: try Regex("[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*")) != nil)
        #expect(!key.meaning.isEmpty && !key.meaning.hasSuffix("."))
    }

    @Test("a key takes its own default", arguments: ServerConfiguration.keys)
    func standard(_ key: ServerConfiguration.Key) { #expect(key.takes(key.standardText)) }

    @Test("a number has a unit, and so has a text", arguments: ServerConfiguration.keys)
    func unit(_ key: ServerConfiguration.Key) {
        switch key.standard {
        case .number, .text: #expect(!key.unit.isEmpty)
        case .choice, .flag: #expect(key.unit.isEmpty)
        }
    }

    @Test("a key that ends in file names a file", arguments: ServerConfiguration.keys)
    func files(_ key: ServerConfiguration.Key) {
        guard key.name.hasSuffix("file") else { return }
        #expect(key.unit == "file" && !key.isSecret)
    }

    @Test("docs/configuration.md says what the keys say: after a change, `make docs`")
    func documentation() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/configuration.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text == ConfigurationDocument.text)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == ServerConfiguration.keys.count)
    }

    @Test("a secret is shown nowhere, and no other value is hidden")
    func secrets() {
        let key = ServerConfiguration.Key("a.secret", .text(""), "a secret", isSecret: true)
        let setting = ConfigurationSetting(
            key: key, text: "hunter2\n", origin: .environment("SIGHTLINE_A_SECRET"))
        #expect(setting.shownText == "•••")
        let values = ConfigurationValues([setting], problems: [])
        #expect(values.problems.count == 1)
        #expect(values.problems.first?.contains("hunter2") == false)
        let open = ConfigurationSetting(
            key: ServerConfiguration.Key("a", .text(""), "no secret"), text: "b", origin: .standard)
        #expect(open.shownText == "b")
    }

    @Test(
        "the distance of two words is the letters that have to change",
        arguments: [("", "", 0), ("a", "", 1), ("sink", "snk", 1), ("kitten", "sitting", 3)])
    func distance(_ left: String, _ right: String, _ distance: Int) {
        #expect(NearestName.distance(left, right) == distance)
        #expect(NearestName.distance(right, left) == distance)
    }
}

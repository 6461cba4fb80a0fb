internal import ArgumentParser
internal import Foundation
internal import TestSupport
internal import Testing
@testable internal import sightline

struct SubjectOptionsTests {
    private static let longest = String(repeating: "x", count: 256)

    @Test(
        "an id is taken from a file of one line, and from no other",
        arguments: [
            ("somebody\n", "somebody"), ("somebody", "somebody"), ("somebody\r\n", "somebody"),
            (" a b \n", " a b "), (longest, longest), (longest + "\r\n", longest),
            ("", nil), ("\n", nil), ("a\nb\n", nil), (longest + "x", nil),
            (longest + "x\n", nil), (longest + "xx\n", nil),
        ] as [(String, String?)])
    func file(_ text: String, _ id: String?) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("id")
        try Data(text.utf8).write(to: URL(filePath: path))
        let options = try SubjectOptions.parse(["--subject-file", path])
        if let id {
            #expect(try options.id() == id)
            return
        }
        let error = #expect(throws: InputError.self) { try options.id() }
        // It may be a person's id with a mistake in it.
        #expect(error?.description.contains("xxx") == false)
    }

    @Test("bytes that are no text are no id")
    func noText() throws {
        let directory = try TemporaryDirectory()
        try Data([0x61, 0xff]).write(to: URL(filePath: directory.file("id")))
        let options = try SubjectOptions.parse(["--subject-file", directory.file("id")])
        #expect(throws: InputError.self) { try options.id() }
    }

    @Test(
        "one of the two options is given, and an argument has the length of an id",
        arguments: [
            (["--subject", "a"], true), (["--subject-file", "-"], true),
            (["--subject", "a", "--subject-file", "-"], false), (["--subject", ""], false),
            (["--subject", longest], true), (["--subject", longest + "x"], false),
        ] as [([String], Bool)])
    func options(_ arguments: [String], _ isRight: Bool) {
        #expect(((try? SubjectOptions.parse(arguments)) != nil) == isRight)
    }

    @Test("without either option it is told only once all options are known to exist")
    func none() throws {
        let options = try SubjectOptions.parse([])
        #expect(throws: ValidationError.self) { try options.id() }
    }
}

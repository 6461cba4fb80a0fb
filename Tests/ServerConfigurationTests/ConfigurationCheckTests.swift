// What a configuration asks of the machine, before anything starts.
internal import ConfigurationKeys
internal import Foundation
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing

struct ConfigurationCheckTests {
    private func problem(_ unit: String, _ path: String) -> String? {
        let key = ServerConfiguration.Key("a.key", .text(""), "for the test", unit: unit)
        let problems = ConfigurationCheck.problems(of: [
            ConfigurationSetting(key: key, text: path, origin: .flag("--set"))
        ])
        #expect(problems.count <= 1)
        return problems.first
    }

    @Test("a file that can be read is no problem, nor is one that nobody names")
    func readable() async throws {
        try await TestDirectory.with { directory in
            try Data("x".utf8).write(to: URL(filePath: directory + "/file"))
            try Data().write(to: URL(filePath: directory + "/empty"))
            #expect(self.problem("file", directory + "/file") == nil)
            #expect(self.problem("file", directory + "/empty") == nil)
            #expect(self.problem("file", "") == nil)
        }
    }

    @Test("a file that is missing, or is a directory, is a problem with its key and the path")
    func unreadable() async throws {
        try await TestDirectory.with { directory in
            for path in [directory + "/missing", directory, directory + "/a/b"] {
                let problem = try #require(self.problem("file", path))
                #expect(problem.hasPrefix("--set: a.key is \"\(path)\", but has to be a file"))
            }
        }
    }

    @Test("a directory that is there, or can be made, is no problem, and is not made")
    func writable() async throws {
        try await TestDirectory.with { directory in
            #expect(self.problem("directory", directory) == nil)
            #expect(self.problem("directory", directory + "/a/b/c") == nil)
            #expect(self.problem("directory", "./surely-not-there") == nil)
            #expect(!FileManager.default.fileExists(atPath: directory + "/a"))
        }
    }

    @Test("a directory that is a file, or below one, is a problem")
    func notADirectory() async throws {
        try await TestDirectory.with { directory in
            let file = directory + "/file"
            try Data("x".utf8).write(to: URL(filePath: file))
            for path in [file, file + "/data", file + "/a/b"] {
                let problem = try #require(self.problem("directory", path))
                #expect(problem.contains("a.key is \"\(path)\", but has to be a directory"))
                #expect(problem.hasSuffix("\(file) is a file"))
            }
        }
    }

    @Test("every key that names a file stops the start where the file cannot be read")
    func everyFile() async throws {
        for key in ServerConfiguration.keys where key.unit == "file" {
            let loaded = try await Configurations.load(
                assignments: ["\(key.name)=/nowhere/\(key.name)"])
            let problems = #expect(throws: ConfigurationError.self) { try loaded.checked() }
            #expect(
                problems?.problems.contains {
                    $0.contains("\(key.name) is \"/nowhere/\(key.name)\"")
                } == true)
        }
    }
}

// What the user of a server may read, where another user asks.
internal import Foundation
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing

struct ServerUserTests {
    /// A file of user 0 to 2 and group 0 to 2; the server's user and group are 1.
    struct Row: Sendable {
        let right: UInt32
        let mode: UInt32
        let owner: UInt32
        let group: UInt32
        let isAllowed: Bool
    }

    @Test(
        "the kernel's rule for owner, group and others decides, and root's group is nobody's",
        arguments: [
            Row(right: 4, mode: 0o400, owner: 1, group: 1, isAllowed: true),
            Row(right: 4, mode: 0o044, owner: 1, group: 1, isAllowed: false),
            Row(right: 4, mode: 0o640, owner: 0, group: 1, isAllowed: true),
            Row(right: 4, mode: 0o604, owner: 0, group: 1, isAllowed: false),
            Row(right: 4, mode: 0o640, owner: 0, group: 0, isAllowed: false),
            Row(right: 4, mode: 0o604, owner: 0, group: 0, isAllowed: true),
            Row(right: 4, mode: 0o640, owner: 0, group: 2, isAllowed: true),
            Row(right: 4, mode: 0o600, owner: 2, group: 2, isAllowed: false),
            Row(right: 1, mode: 0o644, owner: 0, group: 1, isAllowed: false),
            Row(right: 1, mode: 0o711, owner: 0, group: 0, isAllowed: true),
        ])
    func rights(_ row: Row) {
        let user = ServerUser(user: 1, group: 1)
        #expect(
            user.has(row.right, mode: row.mode, owner: row.owner, group: row.group)
                == row.isAllowed, "\(row)")
    }

    @Test("who runs the command is no other user, nor is anybody where nothing is served yet")
    func nobodyElse() async throws {
        try await TestDirectory.with { directory in
            #expect(ServerUser(ofDataDirectory: directory) == nil)
            #expect(ServerUser(ofDataDirectory: directory + "/missing") == nil)
        }
    }

    @Test("a closed directory above a file is told, with its owner and mode; a missing file is not")
    func closedDirectory() async throws {
        try await TestDirectory.with { directory in
            let closed = directory + "/closed"
            try FileManager.default.createDirectory(
                atPath: closed, withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            let file = closed + "/file"
            try Data("x".utf8).write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let another = ServerUser(user: 4_000_000_000, group: 4_000_000_000)
            let problem = try #require(another.problem(reading: file))
            #expect(problem.contains("cannot enter ") && problem.contains("/closed: it belongs"))
            #expect(problem.contains("with mode 0700"))
            #expect(another.problem(reading: closed + "/missing") == nil)
        }
    }
}

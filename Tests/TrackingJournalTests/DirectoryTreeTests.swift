// Directories are created so that they survive a power cut.
internal import Glibc
@testable internal import Storage
internal import Testing
@testable internal import TrackingJournal

struct DirectoryTreeTests {
    /// Directories in memory that record their syncs. `@unchecked Sendable`: used by one task.
    private final class Tree: FileSystem, DirectoryTree, @unchecked Sendable {
        var paths: Set<String>
        var synced: [String] = []
        var readOnly: Set<String> = []
        var failing: String?

        init(_ paths: Set<String>) { self.paths = paths }

        func existing(_ path: String) -> (any Directory)? {
            self.paths.contains(path) ? Node(path: path, tree: self) : nil
        }

        func make(_ path: String) { self.paths.insert(path) }
        func isWritable(_ path: String) -> Bool { !self.readOnly.contains(path) }
    }

    private final class Node: Directory {
        let path: String
        private let tree: Tree

        init(path: String, tree: Tree) {
            self.path = path
            self.tree = tree
        }

        func names() -> [String] { [] }
        func rename(_ name: String, to newName: String) {}
        func remove(_ name: String) {}

        func open(_ name: String) throws(SystemError) -> any OpenFile {
            throw SystemError("open", name, ENOENT)
        }

        func sync() throws(SystemError) {
            if self.tree.failing == self.path { throw SystemError("fsync", self.path, EIO) }
            self.tree.synced.append(self.path)
        }
    }

    @Test("each entry on the way is synced, from the top down")
    func made() throws {
        let tree = Tree(["/", "/var"])
        #expect(try tree.directory("/var/lib/data").path == "/var/lib/data")
        #expect(tree.paths == ["/", "/var", "/var/lib", "/var/lib/data"])
        #expect(tree.synced == ["/", "/var", "/var/lib"])
    }

    @Test("what an earlier process made and could not sync is synced by the next")
    func left() throws {
        let tree = Tree(["/"])
        tree.failing = "/"
        #expect(throws: SystemError.self) { try tree.directory("/data/journal") }
        #expect(tree.paths.contains("/data"))
        tree.failing = nil
        _ = try tree.directory("/data/journal")
        #expect(tree.synced == ["/", "/data"])
    }

    @Test("what this user could not have made is left alone")
    func readOnly() throws {
        let tree = Tree(["/", "/var", "/var/data"])
        tree.readOnly = ["/", "/var"]
        _ = try tree.directory("/var/data/journal")
        #expect(tree.synced == ["/var/data"])
    }

    @Test(
        "a path may be relative, and end in slashes",
        arguments: [("data", ["."]), ("./data/", ["."]), ("a/b//", [".", "a"]), (".", [])])
    func relative(_ path: String, _ synced: [String]) throws {
        let tree = Tree(["."])
        _ = try tree.directory(path)
        #expect(tree.synced == synced)
    }
}

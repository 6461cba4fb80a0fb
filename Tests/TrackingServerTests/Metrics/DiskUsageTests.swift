// The bytes of the sinks' files.
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import TrackingServer

struct DiskUsageTests {
    @Test("files, and the files of directories, count; what is missing or nested does not")
    func bytes() throws {
        let directory = try TemporaryDirectory()
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: directory.file("hits/nested"), withIntermediateDirectories: true)
        for (name, count) in [("hits.db", 5), ("hits/1", 7), ("hits/2", 11), ("hits/nested/3", 13)]
        {
            try Data(count: count).write(to: URL(filePath: directory.file(name)))
        }
        let paths = ["hits.db", "hits", "none"].map { directory.file($0) }
        let usage = DiskUsage(of: paths)
        let start = ContinuousClock.now
        #expect(usage.bytes(at: start) == 23)
        try Data(count: 100).write(to: URL(filePath: directory.file("hits.db")))
        #expect(usage.bytes(at: start + .seconds(9)) == 23, "it is looked at every 10 s")
        #expect(usage.bytes(at: start + .seconds(10)) == 118)
    }

    @Test("what is free is told, and nothing where there is no such path")
    func free() throws {
        let directory = try TemporaryDirectory()
        #expect(try #require(DiskUsage.freeBytes(beside: directory.path)) > 0)
        #expect(DiskUsage.freeBytes(beside: directory.file("none")) == nil)
    }
}

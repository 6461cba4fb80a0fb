// Checkpoints that a call waits for.
internal import Foundation
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct CheckpointerTests {
    @Test("a checkpoint that is waited for gets at once all the room that can be made")
    func room() async throws {
        let directory = try TemporaryDirectory()
        let journal = try Journal.open(directory) { configuration in
            configuration.preparedSegments = 2
            configuration.segmentBytes = 1 << 20
            // The only checkpoints are those that are asked for.
            configuration.checkpointMilliseconds = 60_000
        }
        let checkpointer = try #require(journal.checkpointer)
        try await checkpointer.store.limit(pages: 1)
        // The window's keys need further pages.
        await journal.commit(AdmittedRequest.impressions(1...1000))
        await checkpointer.finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.journal)
        #expect(names.contains("segment-1"))
        #expect(!names.contains("segment-2") && !names.contains("ballast"), "\(names)")
        try await checkpointer.store.limit(pages: 1 << 30)
        await journal.close()
    }
}

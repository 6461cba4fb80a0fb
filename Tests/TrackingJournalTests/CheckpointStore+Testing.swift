// A checkpoint's file without room to grow.
internal import GRDB
@testable internal import TrackingJournal

extension CheckpointStore {
    /// The file grows no further than a number of pages, or than it is.
    func limit(pages: Int) async throws {
        try await self.database.write { database in
            _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages)")
        }
    }
}

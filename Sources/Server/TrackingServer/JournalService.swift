internal import ServiceLifecycle
internal import TrackingJournal

/// Keeps the journal open until every other service has stopped: it starts first and stops last.
struct JournalService: Service {
    let journal: Journal

    func run() async throws {
        // Returns at shutdown, or when the group is cancelled.
        try? await gracefulShutdown()
        self.journal.finish()
    }
}

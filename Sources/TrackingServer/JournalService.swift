// The journal's place among the services: first to start, so last to stop.
internal import ServiceLifecycle
internal import TrackingJournal

/// Keeps the journal open until all that uses it has stopped.
struct JournalService: Service {
    let journal: Journal

    func run() async throws {
        // Ends with the shutdown that it waits for, or with the group's cancellation.
        try? await gracefulShutdown()
        self.journal.finish()
    }
}

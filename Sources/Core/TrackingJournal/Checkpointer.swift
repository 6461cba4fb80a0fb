internal import Storage
internal import Synchronization

/// Writes checkpoints one at a time, a while after the first change. All but the write itself runs
/// on the journal's queue, which never waits for a write. `@unchecked Sendable`: the mutable state
/// is touched on that queue only.
final class Checkpointer: @unchecked Sendable {
    let store: CheckpointStore
    private let writer: JournalWriter
    private let queue: any WorkQueue
    private let failure: JournalFailure
    private let delay: Duration
    private let isTimed = Atomic(false)
    private let isClosed = Atomic(false)
    private var isWriting = false
    /// Whether another checkpoint became due during a write.
    private var isDue = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var saving: [Save] = []

    /// Somebody who waits until all is durable. Touched on the journal's queue only.
    private final class Save: @unchecked Sendable {
        private var continuation: CheckedContinuation<Void, Never>?
        private var hasEnded = false

        func begin(_ continuation: CheckedContinuation<Void, Never>, isDurable: Bool) {
            self.continuation = continuation
            if isDurable || self.hasEnded { self.end() }
        }

        func end() {
            self.hasEnded = true
            self.continuation?.resume()
            self.continuation = nil
        }
    }

    init(
        store: CheckpointStore, writer: JournalWriter, queue: any WorkQueue,
        failure: JournalFailure, delay: Duration
    ) {
        self.store = store
        self.writer = writer
        self.queue = queue
        self.failure = failure
        self.delay = delay
    }

    /// Schedules a checkpoint. May be called from any thread.
    func changed() {
        if self.isTimed.exchange(true, ordering: .acquiringAndReleasing) { return }
        self.queue.async(after: self.delay) {
            self.isTimed.store(false, ordering: .releasing)
            self.write()
        }
    }

    /// Writes a checkpoint of everything changed so far, and waits until one is durable: while
    /// there is no room, another try follows. Returns early if the task is cancelled, the disk has
    /// failed or the file is closed.
    func save() async {
        let save = Save()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.queue.async {
                    self.write()
                    if self.isWriting { self.saving.append(save) }
                    save.begin(continuation, isDurable: !self.isWriting)
                }
            }
        } onCancel: {
            self.queue.async { save.end() }
        }
    }

    /// Writes a checkpoint of everything changed so far and waits for it, whatever comes of it.
    func finish() async {
        await withCheckedContinuation { continuation in
            self.queue.async {
                self.write()
                if self.isWriting {
                    self.waiting.append(continuation)
                } else {
                    continuation.resume()
                }
            }
        }
    }

    /// Closes the file after the current write. Later changes are not written.
    func close() {
        self.isClosed.store(true, ordering: .releasing)
        self.store.close()
        self.queue.async { self.endSaving() }
    }

    private func endSaving() {
        for save in self.saving { save.end() }
        self.saving = []
    }

    private func write() {
        if self.isClosed.load(ordering: .acquiring) { return }
        if self.isWriting {
            self.isDue = true
            return
        }
        guard let checkpoint = self.writer.takeCheckpoint() else { return }
        self.isWriting = true
        self.store.write(checkpoint) { outcome in
            self.queue.async { self.ended(checkpoint, outcome) }
        }
    }

    private func ended(_ checkpoint: Checkpoint, _ outcome: CheckpointStore.Outcome) {
        self.isWriting = false
        var hasRoom = true
        do throws(SystemError) {
            switch outcome {
            case .durable: try self.writer.noteSaved(checkpoint)
            case .noRoom:
                hasRoom = false
                let hasMadeRoom = try self.writer.noteUnsaved(checkpoint)
                // While room can be made, try again for those who wait for the last checkpoint.
                let isAwaited = !self.waiting.isEmpty || !self.saving.isEmpty
                if hasMadeRoom, isAwaited { self.isDue = true } else { self.changed() }
            case .failed(let reason): self.failure.note(.failed(reason: reason))
            }
        } catch {
            self.failure.note(.failed(reason: "\(error)"))
        }
        if self.isDue {
            self.isDue = false
            self.write()
        }
        if self.isWriting { return }
        for continuation in self.waiting { continuation.resume() }
        self.waiting = []
        if hasRoom { self.endSaving() }
    }
}

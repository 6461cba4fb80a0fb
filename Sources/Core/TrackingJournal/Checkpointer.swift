internal import Pacing
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
    /// Whether the last checkpoint was asked for. A timer that fires while the file is being closed
    /// must not write: that would look like a disk that has failed.
    private var isEnding = false
    private var isWriting = false
    /// Whether another checkpoint became due during a write.
    private var isDue = false
    /// The calls of `finish` and of `save` that wait for the current write.
    private var finishing: [Call] = []
    private var saving: [Call] = []

    /// A call that waits for a write. A class, so that the queue and the call share its signal.
    private final class Call: Sendable {
        let isOver = Signal()
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
            self.writeUnlessEnding()
        }
    }

    /// Writes a checkpoint of everything changed so far, and waits until one is durable: while the
    /// disk has no room, it is tried again. Returns early if the task is cancelled, the disk has
    /// failed or the file is closed.
    func save() async {
        let call = Call()
        self.queue.async {
            self.writeUnlessEnding()
            if self.isWriting { self.saving.append(call) } else { call.isOver.raise() }
        }
        await withTaskCancellationHandler {
            await call.isOver.wait()
        } onCancel: {
            call.isOver.raise()
        }
    }

    /// Writes a checkpoint of everything changed so far, and waits until it is durable or has
    /// failed.
    func finish() async { await self.finish(isLast: false) }

    /// Does the same for the last time, and closes the file. Later changes are not written.
    func close() async {
        await self.finish(isLast: true)
        self.store.close()
        self.queue.async { self.endSaving() }
    }

    private func finish(isLast: Bool) async {
        let call = Call()
        self.queue.async {
            self.writeUnlessEnding()
            if isLast { self.isEnding = true }
            if self.isWriting { self.finishing.append(call) } else { call.isOver.raise() }
        }
        await call.isOver.wait()
    }

    private func endSaving() {
        for call in self.saving { call.isOver.raise() }
        self.saving = []
    }

    private func writeUnlessEnding() {
        if !self.isEnding { self.write() }
    }

    private func write() {
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
                // While room can be made, try again for the calls that wait for a checkpoint.
                let isAwaited = !self.finishing.isEmpty || !self.saving.isEmpty
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
        for call in self.finishing { call.isOver.raise() }
        self.finishing = []
        if hasRoom { self.endSaving() }
    }
}

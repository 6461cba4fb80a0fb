internal import Logging
internal import Synchronization
internal import WireFormat

/// Logs when spans begin to be lost and when exports succeed again, not every failed batch.
final class ExportLog: Sendable {
    private let logger: Logger
    private let lostSpans = Mutex(0)
    private let isRejectionTold = Atomic(false)

    init(logger: Logger) { self.logger = logger }

    /// Records an accepted batch, of which `rejected` spans were refused.
    func taken(rejected: Int, message: String) {
        let lost = self.lostSpans.withLock { lost in
            defer { lost = 0 }
            return lost
        }
        if lost > 0 {
            self.logger.notice("spans are exported again", metadata: ["lost": .number(lost)])
        }
        let isNews = rejected > 0 || !message.isEmpty
        guard isNews, !self.isRejectionTold.exchange(true, ordering: .relaxed) else { return }
        self.logger.warning(
            "the receiver of spans refuses some of them; told once",
            metadata: ["rejected": .number(rejected), "message": "\(message.cut(toScalars: 256))"])
    }

    /// Logs the totals when the exporter ends.
    func ended(_ counts: SpanCounts) {
        let dropped = counts.count(of: .queueFull) + counts.count(of: .stopped)
        let failed = counts.count(of: .failed) + counts.count(of: .rejected)
        let level: Logger.Level = dropped + failed > 0 ? .warning : .info
        self.logger.log(
            level: level, "spans end",
            metadata: [
                "exported": .number(counts.count(of: .exported)), "dropped": .number(dropped),
                "failed": .number(failed),
            ])
    }

    /// Records lost spans.
    func lost(_ count: Int, reason: String) {
        let isFirst = self.lostSpans.withLock { lost in
            defer { lost += max(count, 1) }
            return lost == 0
        }
        guard isFirst else { return }
        self.logger.warning(
            "spans cannot be exported, and are lost until they can",
            metadata: ["spans": .number(count), "reason": "\(reason.cut(toScalars: 256))"])
    }
}

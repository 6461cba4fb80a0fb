internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf

/// Sends events through the client library until each has its final verdict.
struct EventSender: Sendable {
    /// The interval at which progress is checked.
    private static let watchInterval: Duration = .milliseconds(100)

    private let client: SightlineClient
    private let record: SendRecord
    private let target: String
    private let giveUpAfter: Duration

    /// Creates a sender that fails if no event is settled for `giveUpAfter`.
    ///
    /// - Throws: `SightlineClientError`.
    init(
        _ configuration: ClientConfiguration, giveUpAfter: Duration,
        onProgress: @escaping @Sendable (SendProgress) -> Void
    ) throws {
        let record = SendRecord(onProgress: onProgress)
        var configuration = configuration
        configuration.collectsResults = true
        configuration.reportsAccepted = true
        configuration.onInterruption = record.interrupt
        // The command itself says what has no verdict.
        configuration.flushesAtExit = false
        self.client = try SightlineClient(configuration)
        self.record = record
        self.target = configuration.address.description
        self.giveUpAfter = giveUpAfter
    }

    /// Sends all events.
    ///
    /// - Throws: `TrackingClientError`, or an error of the source.
    func send<Events>(_ events: Events) async throws -> ClientStatistics
    where Events: AsyncSequence & Sendable, Events.Element == OutgoingEvent {
        async let told: Void = self.tellResults()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.read(events) }
                group.addTask { try await self.client.run() }
                group.addTask { try await self.watch() }
                defer { group.cancelAll() }
                // The source ends first, and then the client; the watch never returns.
                try await group.next()
                try await group.next()
            }
        } catch SightlineClientError.refused(let target, let code, let reason) {
            await told
            throw TrackingClientError.refused(
                target: target, code: code, reason: reason,
                unsettled: self.client.statistics.pendingCount)
        } catch {
            await told
            throw error
        }
        await told
        return self.client.statistics
    }

    private func read<Events>(_ events: Events) async throws
    where Events: AsyncSequence & Sendable, Events.Element == OutgoingEvent {
        for try await event in events {
            self.record.begin(event.origin)
            do {
                try await self.client.send(event.event)
            } catch let error as SightlineClientError {
                // This event alone is reported as rejected; others can still be sent.
                guard case .tooLarge = error else { throw error }
                self.record.refuse(Self.refusal(of: event, error))
            }
        }
        self.client.beginClosing()
    }

    private static func refusal(
        of event: OutgoingEvent, _ error: SightlineClientError
    ) -> Sightline_V1_EventResult {
        .with {
            $0.eventID = event.event.eventID
            $0.verdict = .rejected
            $0.violations = [
                .with {
                    $0.code = .tooLarge
                    $0.description_p = "\(error); it was not sent"
                }
            ]
        }
    }

    private func tellResults() async {
        for await settled in self.client.results { self.record.settle(settled) }
    }

    /// Fails the sender if it makes no progress.
    private func watch() async throws {
        var stalledSince = ContinuousClock.now
        var settledCount = 0
        while true {
            try await Task.sleep(for: Self.watchInterval)
            let now = ContinuousClock.now
            let statistics = self.client.statistics
            if statistics.pendingCount == 0 || statistics.settledCount != settledCount {
                stalledSince = now
            }
            settledCount = statistics.settledCount
            guard now - stalledSince >= self.giveUpAfter else { continue }
            throw TrackingClientError.gaveUp(
                target: self.target, unsettled: statistics.pendingCount,
                seconds: self.giveUpAfter / .seconds(1), lastFailure: self.record.lastFailure,
                fix: self.record.fix)
        }
    }
}

package import SightlineClient
package import SightlineProtos
internal import Synchronization

/// The state that the tasks of a `send` share: the events without a verdict, and what was reported.
package final class SendRecord: Sendable {
    private struct State: Sendable {
        /// The sources of events without a verdict, by their tickets' numbers.
        var origins: [UInt64: EventOrigin] = [:]
        var nextNumber: UInt64 = 1
        var readCount = 0
        var settledCount = 0
        var lastFailure: String?
        var fix: String?
    }

    private let state = Mutex(State())
    private let onProgress: @Sendable (SendProgress) -> Void

    /// Creates an empty record; `onProgress` is called for every verdict and broken stream, from
    /// two tasks.
    package init(onProgress: @escaping @Sendable (SendProgress) -> Void) {
        self.onProgress = onProgress
    }

    /// The last broken stream.
    package var lastFailure: String? { self.state.withLock { $0.lastFailure } }

    /// What to change in the options against the last broken stream; nil if they are not why.
    package var fix: String? { self.state.withLock { $0.fix } }

    /// Records an event before it is sent, since its result may arrive before `send` returns.
    package func begin(_ origin: EventOrigin) {
        self.state.withLock { state in
            state.origins[state.nextNumber] = origin
            state.nextNumber += 1
            state.readCount += 1
        }
    }

    /// Reports the verdict on the event of a ticket.
    package func settle(_ settled: SettledEvent) {
        self.tell(settled.number, settled.result)
    }

    /// Reports that the last event was refused, and why.
    package func refuse(_ result: Sightline_V1_EventResult) {
        let number = self.state.withLock { state in
            state.nextNumber -= 1
            return state.nextNumber
        }
        self.tell(number, result)
    }

    /// Reports a broken stream.
    package func interrupt(_ interruption: ClientConfiguration.Interruption) {
        let progress = self.state.withLock { state in
            state.lastFailure = "\(interruption.code): \(interruption.reason)"
            state.fix = ConnectionFix(interruption.failure)?.description
            return SendProgress(
                readCount: state.readCount, settledCount: state.settledCount,
                interruption: .init(reason: interruption.reason, delay: interruption.delay))
        }
        self.onProgress(progress)
    }

    private func tell(_ number: UInt64, _ result: Sightline_V1_EventResult) {
        let progress = self.state.withLock { state -> SendProgress? in
            guard let origin = state.origins.removeValue(forKey: number) else { return nil }
            state.settledCount += 1
            return SendProgress(
                outcomes: [EventOutcome(origin: origin, result: result)],
                readCount: state.readCount, settledCount: state.settledCount)
        }
        if let progress { self.onProgress(progress) }
    }
}

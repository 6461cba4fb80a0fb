package import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import TrackingRules

/// A reader of verdicts, until it is released.
package final class TapReader: Sendable {
    /// Wakes the reader whenever an event is queued. Ends when the server drains.
    package let wakes: AsyncStream<Void>

    let filter: TapFilter
    private let wake: AsyncStream<Void>.Continuation
    private let queue: Mutex<TapQueue>
    private let forgotten: ForgottenSubjects
    private let onRelease: @Sendable () -> Void

    init(
        _ filter: TapFilter, _ configuration: TapConfiguration, _ forgotten: ForgottenSubjects,
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.filter = filter
        self.queue = Mutex(TapQueue(configuration))
        self.forgotten = forgotten
        self.onRelease = onRelease
        // One pending wake is enough.
        (self.wakes, self.wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { self.onRelease() }

    /// The next response; nil if nothing is queued.
    package func take() -> Sightline_V1_TapResponse? {
        let (events, missed) = self.queue.withLock { $0.take() }
        guard !events.isEmpty || missed > 0 else { return nil }
        return .with { response in
            response.events = events.map { $0.proto(without: self.forgotten) }
            response.missedEvents = missed
        }
    }

    /// Queues those events of a request that the filter admits.
    func offer(_ request: AdmittedRequest, tenant: String, second: UInt64) {
        let isEmpty = self.queue.withLock { queue in
            request.forEachOutcome { outcome in
                guard self.filter.admits(outcome) else { return }
                let names = outcome.names
                guard self.filter.admits(names) else { return }
                queue.offer(second: second) {
                    TappedOutcome(
                        outcome, names, tenant: tenant, receiveTime: request.receiveTime,
                        isUnmasked: self.filter.isUnmasked)
                }
            }
            return queue.isEmpty
        }
        if !isEmpty { self.wake.yield() }
    }

    /// Wakes the reader even if nothing is queued.
    package func wakeUp() { self.wake.yield() }

    func end() { self.wake.finish() }
}

/// Where a reader comes from.
package enum TapOrigin: Sendable, Hashable {
    /// A call of a tenant.
    case tenant(String)
    /// The admin socket.
    case operatorSocket
}

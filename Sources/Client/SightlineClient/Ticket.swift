public import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization

/// An event that a client has taken, with the promise of its verdict.
public final class Ticket: Sendable {
    /// How an event ends.
    package enum End: Sendable {
        /// It has its verdict. Nil: accepted, with nothing else reported.
        case settled(Sightline_V1_EventResult?)
        /// The client ended first.
        case failed(SightlineClientError)
    }

    private struct State: Sendable {
        var end: End?
        var promise: Promise<Void>?
    }

    /// The event's number in the order in which the client took events, from 1; `SettledEvent` has
    /// it too.
    public let number: UInt64
    /// The encoded event.
    package let bytes: [UInt8]
    /// The bytes that it adds to a request: the event, its tag and its length.
    package let requestByteCount: Int
    /// Where the spool contains it; nil without a spool.
    package let place: SpoolMarks.Place?
    private let state = Mutex(State())

    /// Creates a ticket for an encoded event.
    package init(number: UInt64, bytes: [UInt8], place: SpoolMarks.Place? = nil) {
        self.number = number
        self.bytes = bytes
        self.requestByteCount = 1 + RequestBytes.varintByteCount(bytes.count) + bytes.count
        self.place = place
    }

    /// Waits for the event's verdict, with its hits (if `reportsAccepted` is set), warnings and
    /// violations.
    ///
    /// - Throws: `SightlineClientError` if the client ended first, `CancellationError`.
    public var result: Sightline_V1_EventResult {
        get async throws {
            while true {
                switch self.next() {
                case .success(.settled(let result)): return self.named(result)
                case .success(.failed(let error)): throw error
                case .failure(let unsettled): try await unsettled.promise.get()
                }
            }
        }
    }

    /// Waits for the verdict alone. Every verdict but `rejected` is success. An event is a
    /// `duplicate` if it was recorded, and sent again because its acknowledgement was lost.
    ///
    /// - Throws: as `result`.
    public var verdict: Sightline_V1_Verdict {
        get async throws { try await self.result.verdict }
    }

    /// A result with the event's id, which a whole request's result lacks. Nil: accepted, with
    /// nothing else reported.
    package func named(_ result: Sightline_V1_EventResult?) -> Sightline_V1_EventResult {
        var named = result ?? .with { $0.verdict = .accepted }
        guard named.eventID.isEmpty else { return named }
        // Cannot fail: SwiftProtobuf encoded it, or the spool's checksum covers it.
        let event = try? Sightline_V1_TrackingEvent(serializedBytes: self.bytes)
        named.eventID = event?.eventID ?? ""
        return named
    }

    /// Resumes the tasks that wait for the verdict. Later ends are ignored.
    package func finish(_ end: End) {
        let promise = self.state.withLock { state -> Promise<Void>? in
            guard state.end == nil else { return nil }
            state.end = end
            defer { state.promise = nil }
            return state.promise
        }
        promise?.fulfil(())
    }

    private struct Unsettled: Error {
        let promise: Promise<Void>
    }

    private func next() -> Result<End, Unsettled> {
        self.state.withLock { state in
            if let end = state.end { return .success(end) }
            let promise = state.promise ?? Promise()
            state.promise = promise
            return .failure(Unsettled(promise: promise))
        }
    }
}

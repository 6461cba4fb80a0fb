// Answers for the client's tests, and tickets.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport

enum TestAnswers {
    /// An answer that settles all up to a sequence.
    static func ack(
        _ sequence: UInt64, results: [Sightline_V1_EventResult] = []
    ) -> Sightline_V1_StreamEventsResponse {
        .with {
            $0.durableSequence = sequence
            $0.results = results
        }
    }

    /// One event's result; of a whole request without an index.
    static func result(
        _ sequence: UInt64, _ index: UInt32?, _ verdict: Sightline_V1_Verdict
    ) -> Sightline_V1_EventResult {
        .with {
            $0.sequence = sequence
            if let index { $0.index = index }
            $0.verdict = verdict
        }
    }
}

extension Ticket {
    /// A ticket of an event e0, e1, …: of 6 bytes in a request for e0 to e9 (its own 4, tag and
    /// length).
    static func test(_ number: Int) throws -> Ticket {
        Ticket(number: UInt64(number), bytes: try TestEvents.event("e\(number)").bytes())
    }

    /// Its event's id.
    var id: String { self.named(nil).eventID }
}

extension Outbox.Step {
    /// The request that is to be written.
    var request: OutboxRequest? {
        if case .write(let request) = self { return request }
        return nil
    }

    /// Whether there is nothing to do for now.
    var isWait: Bool {
        if case .wait = self { return true }
        return false
    }

    /// When to look again; nil unless there is such a time.
    var waitTime: Duration? {
        if case .wait(until: let time) = self { return time }
        return nil
    }

    /// Whether the writer is to stop.
    var isHalfClose: Bool {
        if case .halfClose = self { return true }
        return false
    }
}

extension Sightline_V1_EventResult {
    /// The same for the next event.
    var shifted: Sightline_V1_EventResult {
        var result = self
        result.index += 1
        return result
    }
}

// What the server owes its clients.
internal import TrackingRules

/// The promises of all acks.
struct Obligations {
    /// Acknowledged hits, with the request that was acknowledged first.
    private(set) var owed: [HitID: Int] = [:]
    /// Hits that any client has sent, with the earliest time of day at which their group may have
    /// been committed.
    private(set) var sent: [HitID: Int64] = [:]

    /// The hits of an event.
    static func hits(of accepted: AcceptedEvent) -> [HitID] {
        (0..<16).compactMap { bit in
            guard accepted.kinds.rawValue & (1 << bit) != 0,
                let kind = HitKind(rawValue: UInt8(bit))
            else { return nil }
            return HitID(accepted.key.hitID(kind))
        }
    }

    mutating func sending(_ request: AdmittedRequest, at time: Int64) {
        for accepted in request.acceptedEvents {
            for hit in Self.hits(of: accepted) where self.owed[hit] == nil {
                self.sent[hit] = min(self.sent[hit] ?? time, time)
            }
        }
    }

    /// The time of day has jumped.
    mutating func timeChanged(to time: Int64) {
        for hit in self.sent.keys where self.owed[hit] == nil {
            self.sent[hit] = min(self.sent[hit] ?? time, time)
        }
    }

    /// Records an ack: the request's accepted and duplicate hits are durable.
    mutating func acked(_ request: AdmittedRequest) {
        for accepted in request.acceptedEvents {
            for hit in Self.hits(of: accepted) where self.owed[hit] == nil {
                self.owed[hit] = Int(request.sequence)
            }
        }
    }
}

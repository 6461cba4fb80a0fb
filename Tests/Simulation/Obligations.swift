// What the server owes its clients.
internal import TrackingCore

/// The promises of all acks.
struct Obligations {
    /// Acknowledged hits, with the request that was acknowledged first.
    private(set) var owed: [HitID: Int] = [:]
    /// Hits that any client has sent.
    private(set) var sent: Set<HitID> = []

    /// The hits of an event.
    static func hits(of claim: Claim) -> [HitID] {
        (0..<16).compactMap { bit in
            guard claim.kinds.rawValue & (1 << bit) != 0, let kind = HitKind(rawValue: UInt8(bit))
            else { return nil }
            return HitID(claim.key.hitID(kind))
        }
    }

    mutating func sending(_ request: AdmittedRequest) {
        for claim in request.claims { self.sent.formUnion(Self.hits(of: claim)) }
    }

    /// Records an ack: the request's accepted and duplicate hits are durable.
    mutating func acked(_ request: AdmittedRequest) {
        for claim in request.claims {
            for hit in Self.hits(of: claim) where self.owed[hit] == nil {
                self.owed[hit] = Int(request.sequence)
            }
        }
    }

    /// Acknowledged hits that are neither delivered nor dead letters.
    func missing(delivered: [HitID: Int], kept: Set<HitID>) -> [HitID] {
        self.owed.keys.filter { delivered[$0] == nil && !kept.contains($0) }.sorted()
    }
}

// What the server owes to its clients, and whether it has kept to it.
internal import TrackingCore

/// Every ack that a client was given.
struct Obligations {
    /// Hits that a client was told are safe, with the request that was acked first.
    private(set) var owed: [HitID: Int] = [:]
    /// Hits that some client has sent.
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

    /// A client was told of a request: accepted or duplicate, its hits are safe.
    mutating func acked(_ request: AdmittedRequest) {
        for claim in request.claims {
            for hit in Self.hits(of: claim) where self.owed[hit] == nil {
                self.owed[hit] = Int(request.sequence)
            }
        }
    }

    /// Acked hits that are in none of these places.
    func missing(delivered: [HitID: Int], kept: Set<HitID>) -> [HitID] {
        self.owed.keys.filter { delivered[$0] == nil && !kept.contains($0) }.sorted()
    }
}

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
    func missing(delivered: [HitID: Int], kept: [HitID: Int]) -> [HitID] {
        self.owed.keys.filter { delivered[$0] == nil && kept[$0] == nil }.sorted()
    }
    /// A hit is in the sink or a dead letter, and a letter once: its key is the same each time that
    /// its group is delivered, whichever groups were joined.
    ///
    /// - Throws: `Violation`.
    static func checkOnce(delivered: [HitID: Int], kept: [HitID: Int]) throws {
        if let double = kept.first(where: { $0.value > 1 }) {
            throw Violation("\(double.key) is kept as \(double.value) dead letters")
        }
        if let both = kept.keys.first(where: { delivered[$0] != nil }) {
            throw Violation("\(both) is in the sink, and a dead letter too")
        }
    }
}

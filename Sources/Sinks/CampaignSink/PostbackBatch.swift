// A batch's requests, and what has become of each.
internal import Foundation
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// The requests of a batch. It is kept from one attempt to the next, so that what was counted is
/// not sent again. Memory: its ids and URLs.
struct PostbackBatch: Sendable {
    private let journal: String
    private let sequence: Int64
    /// The hits' ids. They tell the batch, and not its payload: a subject that is forgotten between
    /// two attempts is masked in the second one.
    private let ids: [[UInt8]]
    /// Whether a replay delivers it.
    let isReplay: Bool
    /// In the batch's order.
    let requests: [PostbackRequest]
    /// Whether each of them has an answer that stands.
    private(set) var isSettled: [Bool]
    /// Hits that are not sent, or that a server refused: reasons by position.
    private(set) var refused: [Int: String]

    /// Reads a batch; sends nothing.
    ///
    /// - Throws: `DamagedPayload`.
    init(_ hits: HitBatch, _ configuration: CampaignConfiguration) throws {
        var requests: [PostbackRequest] = []
        var refused: [Int: String] = [:]
        var ids: [[UInt8]] = []
        try hits.forEach { position, hit in
            ids.append(hit.id)
            switch Postback(hit) {
            case .nothing: break
            case .refused(let reason): refused[position] = reason
            case .query(let query):
                let tenant = hit.request.tenant.text
                guard let server = configuration.server(of: tenant, hit.product) else {
                    refused[position] = configuration.absence(of: tenant, hit.product)
                    return
                }
                requests.append(
                    PostbackRequest(
                        position: position, server: server,
                        notification: .init(
                            server: server, tenant: tenant, delivery: hit.deliveryID.text,
                            broadlog: hit.broadlogID.text),
                        query: query))
            }
        }
        self.journal = hits.journal
        self.sequence = hits.sequence
        self.ids = ids
        self.isReplay = hits.isReplay
        self.requests = requests
        self.isSettled = requests.map { _ in false }
        self.refused = refused
    }

    /// Whether it is the same batch, delivered once more.
    func isSame(as other: PostbackBatch) -> Bool {
        self.journal == other.journal && self.sequence == other.sequence && self.ids == other.ids
    }

    /// Takes over what an earlier attempt has settled.
    mutating func goOn(from earlier: PostbackBatch) {
        let settled = zip(earlier.requests, earlier.isSettled).lazy.filter(\.1).map(\.0.position)
        let positions = Set(settled)
        for (index, request) in self.requests.enumerated()
        where positions.contains(request.position) {
            self.isSettled[index] = true
        }
        self.refused.merge(earlier.refused) { _, earlier in earlier }
    }

    /// The number of requests that have no answer yet.
    var waitingCount: Int { self.isSettled.count { !$0 } }

    /// The servers that they go to.
    var waitingServers: Set<PostbackServer> {
        Set(zip(self.requests, self.isSettled).lazy.filter { !$1 }.map(\.0.server))
    }

    /// Notes that a request needs no further one.
    ///
    /// - Parameter reason: why the server refuses it; nil if it counted the hit.
    mutating func settle(_ index: Int, refused reason: String? = nil) {
        self.isSettled[index] = true
        if let reason { self.refused[self.requests[index].position] = reason }
    }
}

extension CampaignConfiguration {
    /// Where a tenant's hits of a product go; nil if nothing is configured.
    func server(of tenant: String, _ product: Product) -> PostbackServer? {
        let servers = self.servers[tenant]
        let isStandard = product == .standard
        guard let url = isStandard ? servers?.standard : servers?.classic else { return nil }
        return PostbackServer(
            url: url + self.path, name: "the \(product.name) server of the tenant \(tenant)",
            timeout: isStandard ? self.standardTimeout : self.classicTimeout)
    }

    /// Why a hit without a server is not sent, and what to do about it.
    fileprivate func absence(of tenant: String, _ product: Product) -> String {
        "the tenant \(tenant) has no server of Campaign \(product.name.capitalized): add "
            + "{tenant: \(tenant), \(product.name): 'https://…'} to campaign.servers, restart, "
            + "and replay the dead letters"
    }
}

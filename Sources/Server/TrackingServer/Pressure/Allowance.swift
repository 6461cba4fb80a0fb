internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import Pacing

/// A call's share of its tenant's quota, and of the bounds that all tenants share, looked up once
/// per call.
struct Allowance: Sendable {
    let tenant: Tenant
    /// Nil for no limit.
    let quota: TenantQuota?
    /// The bytes in flight of the tenant and the call's connection.
    let memory: MemoryShare
    /// The call's bytes that are not in flight yet; nil if it did not pass the edge.
    let buffered: BufferedCall?
    /// What the call's connection has of shared bounds.
    let connection: ConnectionShares

    /// The line of calls that have no stream: that of their connection.
    var line: TurnLine {
        TurnLine(tenant: Array(self.tenant.name.utf8), stream: ObjectIdentifier(self.connection))
    }

    /// Whether the tenant has a quota.
    var isLimited: Bool { self.quota != nil }

    /// Checks that the tenant's debt is not beyond what a stream may wait for; a new call would
    /// only be ended like the running ones.
    ///
    /// - Throws: a status with the delay after which to retry.
    func check() throws { try self.refuse(self.quota?.excessBeyondWait()) }

    /// Charges a unary request, whole or not at all.
    ///
    /// - Throws: a status with the delay after which the quota suffices.
    func take(events: Int, bytes: Int) throws {
        try self.refuse(self.quota?.take(events: events, bytes: bytes))
    }

    /// Charges what was done already.
    func count(events: Int, bytes: Int = 0) {
        _ = self.quota?.charge(events: events, bytes: bytes)
    }

    /// Charges a stream's request and waits until the tenant may send the next one. The stream is
    /// not read meanwhile, so HTTP/2 flow control slows the client down.
    ///
    /// - Throws: the status that ends the stream if the wait would be too long, or
    ///   `CancellationError`.
    func waitForTurn(events: Int, bytes: Int) async throws {
        guard let quota = self.quota else { return }
        switch quota.charge(events: events, bytes: bytes) {
        case .goOn: return
        case .wait(let duration): try await Task.sleep(for: duration)
        case .end(let excess): try self.refuse(excess)
        }
    }

    private func refuse(_ excess: QuotaExcess?) throws {
        guard let excess else { return }
        throw ServiceError.quota(excess, tenant: self.tenant).status
    }
}

extension Ingest {
    /// The allowance of a new call. From here on the edge knows the call's tenant.
    ///
    /// - Parameter metadata: names the call; empty if its connection does not matter.
    /// - Throws: the status of a call that the memory budget refuses, or whose client has left: on
    ///   shares of its own it would have room in every bound.
    func allowance(of tenant: Tenant, _ metadata: Metadata = [:]) throws -> Allowance {
        let buffered = self.budget.buffered.call(metadata)
        if buffered == nil, BufferedBytes.isName(in: metadata) {
            throw ServiceError.closing.status
        }
        buffered?.assign(to: tenant.name.utf8)
        let connection = buffered?.connection ?? ConnectionShares()
        let memory = self.budget.share(of: tenant.name, on: connection)
        guard !memory.isNearlyFull else { throw ServiceError.overloaded.status }
        let allowance = Allowance(
            tenant: tenant, quota: self.quotas.quota(of: tenant), memory: memory,
            buffered: buffered, connection: connection)
        try allowance.check()
        return allowance
    }
}

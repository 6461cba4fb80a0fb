internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf

/// A call's share of its tenant's quota, looked up once per call. Costs nothing without a quota.
struct Allowance: Sendable {
    let tenant: Tenant
    /// Nil for no limit.
    let quota: TenantQuota?

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
    /// The allowance of a new call.
    ///
    /// - Throws: the status of a call that the memory budget refuses.
    func allowance(of tenant: Tenant) throws -> Allowance {
        guard !self.budget.isNearlyFull else { throw ServiceError.overloaded.status }
        let allowance = Allowance(tenant: tenant, quota: self.quotas.quota(of: tenant))
        try allowance.check()
        return allowance
    }
}

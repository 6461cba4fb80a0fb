// What one call may send, looked up once and kept as long as it lasts.
internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf

/// A call's share in its tenant's quota. Costs nothing where the tenant has none.
struct Allowance: Sendable {
    let tenant: Tenant
    /// nil for no limit.
    let quota: TenantQuota?

    /// Whether there is a limit to wait for.
    var isLimited: Bool { self.quota != nil }

    /// Whether the tenant's calls have more on credit than waiting could make good: a new one would
    /// only be ended like the others.
    ///
    /// - Throws: the status with the delay after which it is worth another try.
    func check() throws { try self.refuse(self.quota?.excessBeyondWait()) }

    /// Takes a unary request whole or not at all.
    ///
    /// - Throws: the status with the delay after which there is enough.
    func take(events: Int, bytes: Int) throws {
        try self.refuse(self.quota?.take(events: events, bytes: bytes))
    }

    /// Charges a request after it was answered.
    func count(events: Int) { _ = self.quota?.charge(events: events, bytes: 0) }

    /// Counts a stream's request, and waits until its tenant may send the next one. The stream is
    /// not read meanwhile, so HTTP/2 slows its client down.
    ///
    /// - Throws: the status that ends the stream where that would take too long, or
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
    /// - Throws: the status of a call for which there is no room now.
    func allowance(of tenant: Tenant) throws -> Allowance {
        guard !self.budget.isNearlyFull else { throw ServiceError.overloaded.status }
        let allowance = Allowance(tenant: tenant, quota: self.quotas.quota(of: tenant))
        try allowance.check()
        return allowance
    }
}

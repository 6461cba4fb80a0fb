// Who is to blame for what a backend refuses.
internal import SinkKit
internal import Testing

struct TenantRefusalsTests {
    private static let (a, b) = ([UInt8]("a".utf8), [UInt8]("b".utf8))

    @Test("so many hits of a tenant are found alone, and with one more somebody is wrong")
    func limit() {
        var refusals = TenantRefusals(limit: 3)
        #expect(refusals.refuse(Self.a, times: 3) == .few)
        // Each tenant has its own.
        #expect(refusals.refuse(Self.b, times: 3) == .few)
        // Nothing was accepted: it may be the backend, however often it is asked.
        #expect(refusals.refuse(Self.a, times: 2) == .doubtful)
        #expect(refusals.blamed.isEmpty)
        refusals.blame(Self.a)
        #expect(refusals.blamed == [Self.a])
        #expect(refusals.refuse(Self.a, times: 9) == .few)
    }

    @Test("a hit accepted since the first refusal speaks for the backend, an older one does not")
    func witness() {
        var refusals = TenantRefusals(limit: 2)
        refusals.accept(Self.b)
        #expect(refusals.refuse(Self.a, times: 3) == .doubtful)
        refusals.accept(Self.b)
        #expect(refusals.refuse(Self.a, times: 1) == .blamed)
        #expect(refusals.blamed == [Self.a])
    }

    @Test("an accepted hit ends its tenant's count and its blame, and no other's")
    func accepted() {
        var refusals = TenantRefusals(limit: 2)
        _ = refusals.refuse(Self.a, times: 2)
        refusals.accept(Self.a)
        #expect(refusals.refuse(Self.a, times: 2) == .few)
        refusals.blame(Self.a)
        refusals.blame(Self.b)
        refusals.accept(Self.a)
        #expect(refusals.blamed == [Self.b])
        #expect(refusals.refuse(Self.a, times: 2) == .few)
    }

    @Test("a batch has its own count, unless nothing has been accepted since")
    func batches() {
        var refusals = TenantRefusals(limit: 2)
        _ = refusals.refuse(Self.a, times: 2)
        refusals.beginBatch()
        #expect(refusals.refuse(Self.a, times: 1) == .doubtful)
        refusals.acceptSome()
        refusals.beginBatch()
        #expect(refusals.refuse(Self.a, times: 2) == .few)
        refusals.acceptSome()
        #expect(refusals.refuse(Self.a, times: 1) == .blamed)
        refusals.beginBatch()
        #expect(refusals.blamed == [Self.a])
    }

    @Test("maxTenants are counted, and one more empties the table")
    func tables() {
        var refusals = TenantRefusals(limit: 1)
        func tenant(_ number: Int) -> [UInt8] { [UInt8]("\(number)".utf8) }
        for number in 0..<TenantRefusals.maxTenants { _ = refusals.refuse(tenant(number)) }
        #expect(refusals.refuse(tenant(0)) == .doubtful)
        #expect(refusals.refuse(tenant(TenantRefusals.maxTenants)) == .few)
        #expect(refusals.refuse(tenant(0)) == .few)
        for number in 0..<TenantRefusals.maxTenants { refusals.blame(tenant(number)) }
        #expect(refusals.blamed.count == TenantRefusals.maxTenants)
        refusals.blame(tenant(TenantRefusals.maxTenants))
        #expect(refusals.blamed == [tenant(TenantRefusals.maxTenants)])
    }
}

extension TenantRefusals {
    /// Refuses hits of a tenant; what follows from the last.
    fileprivate mutating func refuse(_ tenant: [UInt8], times: Int) -> Consequence {
        for _ in 1..<times { _ = self.refuse(tenant) }
        return self.refuse(tenant)
    }
}

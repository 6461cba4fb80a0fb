// Which quota a call is charged to, and how many are remembered.
internal import ConfigurationKeys
@testable internal import Credentials
internal import Foundation
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct TenantQuotasTests {
    private let clock = TestClock()

    private var now: @Sendable () -> UInt64 {
        { [clock] in 1_000_000_000_000 + UInt64(clock.elapsed / .nanoseconds(1)) }
    }

    private func configuration(
        events: Int = 10, bytes: Int = 0, maxTenants: Int = 10_000, file: String = ""
    ) -> QuotaConfiguration {
        var configuration = QuotaConfiguration()
        configuration.standard.eventsPerSecond = events
        configuration.standard.bytesPerSecond = bytes
        configuration.maxTenants = maxTenants
        configuration.maxStreamWait = .seconds(2)
        configuration.file = file
        return configuration
    }

    private func tenant(_ name: String) throws -> Tenant { try #require(Tenant(name)) }

    @Test("without a limit there is no quota to look at")
    func unlimited() throws {
        let quotas = try TenantQuotas(QuotaConfiguration(), now: self.now)
        #expect(quotas.quota(of: try self.tenant("a")) == nil)
        #expect(quotas.count == 0)
    }

    @Test("a unary request is taken whole or not at all, at the limit and one beyond")
    func take() throws {
        let quotas = try TenantQuotas(self.configuration(bytes: 100), now: self.now)
        let quota = try #require(quotas.quota(of: try self.tenant("a")))
        #expect(quota.take(events: 6, bytes: 50) == nil)
        let events = QuotaExcess(rate: .events, perSecond: 10, wait: .milliseconds(100))
        #expect(quota.take(events: 5, bytes: 50) == events)
        let bytes = QuotaExcess(rate: .bytes, perSecond: 100, wait: .milliseconds(10))
        #expect(quota.take(events: 4, bytes: 51) == bytes)
        #expect(quota.take(events: 4, bytes: 50) == nil)
        self.clock.advance(by: .milliseconds(99))
        #expect(quota.take(events: 1, bytes: 1) != nil)
        self.clock.advance(by: .milliseconds(1))
        #expect(quota.take(events: 1, bytes: 1) == nil)
    }

    @Test("a stream is slowed by what it has on credit, and ended where that is too much")
    func pace() throws {
        let quotas = try TenantQuotas(self.configuration(), now: self.now)
        let quota = try #require(quotas.quota(of: try self.tenant("a")))
        #expect(quota.charge(events: 10, bytes: 1) == .goOn)
        #expect(quota.charge(events: 20, bytes: 1) == .wait(.seconds(2)))
        #expect(quota.excessBeyondWait() == nil)
        let excess = QuotaExcess(rate: .events, perSecond: 10, wait: .milliseconds(2100))
        #expect(quota.charge(events: 1, bytes: 1) == .end(excess))
        #expect(quota.excessBeyondWait() == excess)
        self.clock.advance(by: .milliseconds(2100))
        #expect(quota.charge(events: 0, bytes: 1) == .goOn)
    }

    @Test("a tenant has one quota in all its calls, and no other tenant feels it")
    func oneEach() throws {
        let quotas = try TenantQuotas(self.configuration(), now: self.now)
        let (a, b) = (try self.tenant("a"), try self.tenant("b"))
        #expect(quotas.quota(of: a)?.take(events: 10, bytes: 1) == nil)
        #expect(quotas.quota(of: a)?.take(events: 1, bytes: 1) != nil)
        #expect(quotas.quota(of: b)?.take(events: 10, bytes: 1) == nil)
    }

    @Test("a full table forgets who has used nothing of late, and none that has")
    func eviction() throws {
        let quotas = try TenantQuotas(self.configuration(maxTenants: 2), now: self.now)
        let tenants = try ["a", "b", "c", "d"].map(self.tenant)
        #expect(quotas.quota(of: tenants[0])?.take(events: 10, bytes: 1) == nil)
        self.clock.advance(by: .milliseconds(500))
        #expect(quotas.quota(of: tenants[1])?.take(events: 10, bytes: 1) == nil)
        // The table is full: c and d share a quota.
        #expect(quotas.quota(of: tenants[2])?.take(events: 10, bytes: 1) == nil)
        #expect(quotas.quota(of: tenants[3])?.take(events: 1, bytes: 1) != nil)
        #expect(quotas.count == 2)
        // By now a's quota is full again, b's is half full.
        self.clock.advance(by: .milliseconds(1000))
        #expect(quotas.quota(of: tenants[1])?.take(events: 1, bytes: 1) == nil)
        #expect(quotas.quota(of: tenants[2])?.take(events: 10, bytes: 1) == nil)
        #expect(quotas.count == 2)
        #expect(quotas.quota(of: tenants[1])?.take(events: 10, bytes: 1) != nil)
    }

    @Test("a full table keeps the quota of an open call, which shares it with the tenant's others")
    func held() throws {
        let quotas = try TenantQuotas(self.configuration(maxTenants: 1), now: self.now)
        let (a, b) = try (self.tenant("a"), self.tenant("b"))
        let held = try #require(quotas.quota(of: a))
        #expect(quotas.quota(of: b) !== held)
        #expect(held.take(events: 10, bytes: 1) == nil)
        try quotas.prepare(self.configuration(events: 5, maxTenants: 1))()
        self.clock.advance(by: .milliseconds(1000))
        #expect(quotas.quota(of: a) === held)
        #expect(held.take(events: 5, bytes: 1) == nil)
        #expect(held.take(events: 1, bytes: 1) != nil)
    }

    @Test("the table never holds more tenants than it may", arguments: [1, 2, 100])
    func bounded(_ maxTenants: Int) throws {
        let quotas = try TenantQuotas(
            self.configuration(maxTenants: maxTenants), now: self.now)
        for number in 0..<1000 {
            _ = quotas.quota(of: try self.tenant("t\(number)"))?.take(events: 3, bytes: 1)
            self.clock.advance(by: .milliseconds(10))
            #expect(quotas.count <= maxTenants)
        }
    }

    @Test("a file gives single tenants quotas of their own; what it does not say is the standard")
    func file() async throws {
        let yaml = """
            tenants:
              a:
                events_per_second: 3
                burst_seconds: 2
              b:
                events_per_second: 0
            """
        try await self.with(yaml) { path in
            let quotas = try TenantQuotas(self.configuration(file: path), now: self.now)
            let (a, b, c) = try (self.tenant("a"), self.tenant("b"), self.tenant("c"))
            #expect(quotas.quota(of: a)?.take(events: 6, bytes: 1) == nil)
            #expect(quotas.quota(of: a)?.take(events: 1, bytes: 1) != nil)
            #expect(quotas.quota(of: b)?.take(events: 1_000_000, bytes: 1) == nil)
            #expect(quotas.quota(of: c)?.take(events: 11, bytes: 1) == nil)
            #expect(quotas.quota(of: c)?.take(events: 1, bytes: 1) != nil)
        }
    }

    @Test("a reload changes the quotas of open calls, and a wrong file changes nothing")
    func reload() async throws {
        try await self.with("tenants:\n  a:\n    events_per_second: 1\n") { path in
            let quotas = try TenantQuotas(self.configuration(file: path), now: self.now)
            let quota = try #require(quotas.quota(of: try self.tenant("a")))
            #expect(quota.take(events: 1, bytes: 1) == nil)
            #expect(quota.take(events: 1, bytes: 1) != nil)
            try Data("tenants:\n  a:\n    events_per_second: many\n".utf8)
                .write(to: URL(filePath: path))
            #expect(throws: ConfigurationError.self) { try quotas.reload() }
            #expect(quota.take(events: 1, bytes: 1) != nil)
            try Data("tenants:\n  a:\n    events_per_second: 100\n".utf8)
                .write(to: URL(filePath: path))
            try quotas.reload()
            self.clock.advance(by: .milliseconds(1000))
            #expect(quota.take(events: 100, bytes: 1) == nil)
            #expect(quota.take(events: 1, bytes: 1) != nil)
            try quotas.prepare(self.configuration(events: 5))()
            self.clock.advance(by: .milliseconds(1000))
            #expect(quota.take(events: 5, bytes: 1) == nil)
            #expect(quota.take(events: 1, bytes: 1) != nil)
        }
    }

    @Test(
        "what is wrong in the file is told with its place",
        arguments: [
            ("- a", ":1:1", "has to begin with"), ("tenant:\n  a: {}", ":1:1", "no key"),
            ("tenants: a", ":1:1", "holds names"), ("tenants:\n  a: 5", ":2:3", "holds keys"),
            ("tenants:\n  A B: {}", ":2:3", "name has 1 to 64"),
            ("tenants:\n  a:\n    events: 1", ":3:5", "no key of a tenant's quota"),
            ("tenants:\n  a:\n    event_per_second: 1", ":3:5", "mean events_per_second"),
            ("tenants:\n  a:\n    events_per_second: -1", ":3:5", "\"-1\""),
            ("tenants:\n  a:\n    burst_seconds: 0", ":3:5", "from 1 to 3600"),
            ("tenants:\n  a:\n    bytes_per_second: [1]", ":3:5", "whole number"),
            ("tenants:\n\ta: 1", ":2:1", "tab"),
        ])
    func problems(_ yaml: String, _ place: String, _ words: String) async throws {
        try await self.with(yaml) { path in
            let error = try #require(throws: ConfigurationError.self) {
                _ = try TenantQuotas(self.configuration(file: path), now: self.now)
            }
            #expect(error.problems.count == 1)
            #expect(error.problems.first?.contains(path + place) == true, "\(error)")
            #expect(error.problems.first?.contains(words) == true, "\(error)")
        }
    }

    @Test("an empty file names nobody; one that is not there stops the start")
    func noFile() async throws {
        try await self.with("") { path in
            let quotas = try TenantQuotas(self.configuration(file: path), now: self.now)
            #expect(quotas.quota(of: try self.tenant("a"))?.take(events: 11, bytes: 1) == nil)
        }
        let error = try #require(throws: ConfigurationError.self) {
            _ = try TenantQuotas(self.configuration(file: "/nowhere/q.yaml"), now: self.now)
        }
        #expect(error.problems.first?.hasPrefix("quotas.file is \"/nowhere/q.yaml\"") == true)
    }

    @Test("a file of 4 MiB is read, and one byte more stops the start", arguments: [0, 1])
    func size(_ beyond: Int) async throws {
        let yaml = "tenants: {}\n"
        let comment = "#" + String(repeating: "x", count: (4 << 20) - yaml.utf8.count - 1 + beyond)
        try await self.with(yaml + comment) { path in
            let read = { try TenantQuotas(self.configuration(file: path), now: self.now) }
            guard beyond > 0 else {
                _ = try read()
                return
            }
            let error = try #require(throws: ConfigurationError.self) { _ = try read() }
            #expect(error.problems.first?.contains("more than 4194304 bytes") == true)
        }
    }

    private func with(_ yaml: String, _ body: (String) throws -> Void) async throws {
        try await TestDirectory.with { directory in
            let path = directory + "/quotas.yaml"
            try Data(yaml.utf8).write(to: URL(filePath: path))
            try body(path)
        }
    }
}

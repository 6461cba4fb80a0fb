// A server that asks for credentials, as its clients see it.
@testable internal import Credentials
internal import Foundation
internal import GRDB
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct AuthenticationTests {
    /// Two tenants' keys in a file of their own.
    private struct Keys {
        let file: KeysFile
        let keys = ["tenant-a": APIKey(), "tenant-b": APIKey()]

        init(_ directory: String, expires: Date? = nil) throws {
            self.file = KeysFile(path: directory + "/keys.jsonl")
            for (tenant, key) in self.keys {
                let record = KeyRecord(
                    key, tenant: try #require(Tenant(tenant)), name: "", scopes: ["write"],
                    created: Date(), expires: expires)
                try self.file.update { $0.append(record) }
            }
        }

        func metadata(_ tenant: String) throws -> Metadata {
            ["authorization": "Bearer \(try #require(self.keys[tenant]).text)"]
        }
    }

    private func reasons(_ error: RPCError?) throws -> [String] {
        guard let error else { return [] }
        return try #require(try error.unpackGoogleRPCStatus()).details
            .compactMap(\.errorInfo).map(\.reason)
    }

    private func tenants(_ directory: String) throws -> [String: [String]] {
        try DatabaseQueue.hits(in: directory).read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT DISTINCT broadlog_id, tenant FROM hits ORDER BY tenant")
            return Dictionary(grouping: rows) { $0["broadlog_id"] as String }
                .mapValues { $0.map { $0["tenant"] as String } }
        }
    }

    @Test("the tenant of a call stands in its hits, and each tenant has its own duplicates")
    func tenantInHits() async throws {
        try await TestDirectory.with { directory in
            let keys = try Keys(directory)
            try await RunningServer.run(in: directory) { configuration in
                configuration.auth.modes = [.keys]
                configuration.auth.keysFile = keys.file.path
            } _: { server in
                try await WireClient.with(server) { client in
                    var client = client
                    for tenant in ["tenant-a", "tenant-b"] {
                        client.metadata = try keys.metadata(tenant)
                        let events = [TestEvents.push("shared"), TestEvents.push(tenant)]
                        let streamed = try await client.stream([try TestEvents.request(1, events)])
                        #expect(streamed.answers.last?.tally.accepted == 2)
                        let recorded = try await client.record([TestEvents.push("unary-" + tenant)])
                        #expect(recorded.answers.first?.tally.accepted == 1)
                        let known = try await client.explain([TestEvents.push("shared")])
                        #expect(known.answers.first?.results.first?.verdict == .duplicate)
                        let other = tenant == "tenant-a" ? "tenant-b" : "tenant-a"
                        client.metadata = try keys.metadata(other)
                        let unknown = try await client.explain([TestEvents.push("unary-" + tenant)])
                        #expect(unknown.answers.first?.results.first?.verdict == .accepted)
                    }
                }
            }
            #expect(
                try self.tenants(directory) == [
                    "shared": ["tenant-a", "tenant-b"], "tenant-a": ["tenant-a"],
                    "tenant-b": ["tenant-b"], "unary-tenant-a": ["tenant-a"],
                    "unary-tenant-b": ["tenant-b"],
                ])
        }
    }

    @Test("without credentials the tenant is default")
    func nobody() async throws {
        try await TestDirectory.with { directory in
            try await RunningServer.run(in: directory) { server in
                try await WireClient.with(server) { client in
                    var client = client
                    // Without authentication, credentials are ignored.
                    client.metadata = ["authorization": "Bearer nonsense"]
                    _ = try await client.record([TestEvents.push("h1")])
                }
            }
            #expect(try self.tenants(directory) == ["h1": ["default"]])
        }
    }

    @Test("every method asks for credentials, and says the same to all that are wrong")
    func everyMethod() async throws {
        typealias Method = WireClient.Methods
        try await TestDirectory.with { directory in
            let keys = try Keys(directory)
            try await RunningServer.run(in: directory) { configuration in
                configuration.auth.modes = [.keys]
                configuration.auth.keysFile = keys.file.path
            } _: { server in
                try await WireClient.with(server) { client in
                    var client = client
                    let right = try #require(keys.keys["tenant-a"]).text
                    let wrong = [
                        APIKey().text, String(right.prefix(21)) + APIKey().text.suffix(43),
                        "e30.e30.e30",
                        "slk_short", String(right.dropLast()),
                    ]
                    var said: Set<String> = []
                    for method in [
                        Method.StreamEvents.descriptor, Method.RecordEvents.descriptor,
                        Method.ExplainEvents.descriptor, Method.InspectPayload.descriptor,
                        Sightline_V1_DeliveryService.Method.PutDeliveries.descriptor,
                    ] {
                        client.metadata = [:]
                        let missing = try await self.outcome(client, method)
                        #expect(missing?.code == .unauthenticated)
                        #expect(try self.reasons(missing) == ["CREDENTIALS_MISSING"])
                        for text in wrong {
                            client.metadata = ["authorization": "Bearer \(text)"]
                            let error = try await self.outcome(client, method)
                            #expect(error?.code == .unauthenticated)
                            #expect(try self.reasons(error) == ["CREDENTIALS_REFUSED"])
                            said.insert("\(error.map { "\($0)" } ?? "")")
                            #expect(error?.message.contains(text) == false)
                        }
                    }
                    #expect(said.count == 1)
                }
            }
        }
    }

    private func outcome(_ client: WireClient, _ method: MethodDescriptor) async throws -> RPCError?
    {
        try await client.call(method, [[]], as: Sightline_V1_RecordEventsResponse.self).error
    }

    @Test("a key without the scope is PERMISSION_DENIED")
    func scope() async throws {
        try await TestDirectory.with { directory in
            let keys = try Keys(directory)
            for (scope, code) in [("write", RPCError.Code?.none), ("admin", .permissionDenied)] {
                try await RunningServer.run(in: directory) { configuration in
                    configuration.auth.modes = [.keys]
                    configuration.auth.keysFile = keys.file.path
                    configuration.auth.requiredScope = scope
                } _: { server in
                    try await WireClient.with(server) { client in
                        var client = client
                        client.metadata = try keys.metadata("tenant-a")
                        let error = try await client.explain([TestEvents.push("h1")]).error
                        #expect(error?.code == code)
                        #expect(try self.reasons(error) == (code == nil ? [] : ["SCOPE_MISSING"]))
                    }
                }
            }
        }
    }

    @Test("the Swift client sends the key in its file, and says why where it cannot")
    func swiftClient() async throws {
        try await TestDirectory.with { directory in
            let keys = try Keys(directory)
            let path = directory + "/key.txt"
            try await RunningServer.run(in: directory) { configuration in
                configuration.auth.modes = [.keys]
                configuration.auth.keysFile = keys.file.path
            } _: { server in
                let text = try #require(keys.keys["tenant-b"]).text + "\n"
                try Data(text.utf8).write(to: URL(filePath: path))
                let results = try await SightlineClient.send(
                    [TestEvents.push("h1")], to: server.address,
                    credential: ClientCredential(path: path))
                #expect(results.map(\.verdict) == [.accepted])
                let error = await #expect(throws: SightlineClientError.self) {
                    try await SightlineClient.send([TestEvents.push("h1")], to: server.address)
                }
                #expect("\(try #require(error))".contains("UNAUTHENTICATED"))
            }
            #expect(try self.tenants(directory) == ["h1": ["tenant-b"]])
        }
    }

    @Test(
        "a credential's file has to hold one line of 1 to 16384 characters",
        arguments: [
            ("", false), ("\n", false), ("a", true), ("a\r\n", true), ("a b\n", false),
            ("a\nb\n", false), ("ä", false), ("16384", true), ("16385", false),
        ])
    func clientFile(_ content: String, _ isTaken: Bool) async throws {
        let text = Int(content).map { String(repeating: "a", count: $0) } ?? content
        try await TestDirectory.with { directory in
            let path = directory + "/key.txt"
            try Data(text.utf8).write(to: URL(filePath: path))
            var configuration = ClientConfiguration(address: try ServerAddress("127.0.0.1:1"))
            configuration.credential = ClientCredential(path: path)
            do {
                _ = try SightlineClient(configuration)
                #expect(isTaken)
            } catch SightlineClientError.badCredential(let named, _) {
                #expect(!isTaken && named == path)
            }
        }
    }
}

// The limit on a call's metadata, in bytes as they are counted.
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import NIOHPACK
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct MetadataLimitTests {
    @Test("names and values count as they are sent, repeated ones each time, HTTP's own never")
    func bytes() {
        var headers: HPACKHeaders = [":method": "POST", ":path": "/a/b"]
        #expect(MetadataLimit.bytes(of: headers) == 0)
        headers.add(name: "name", value: "value")
        headers.add(name: "name", value: "é")
        headers.add(name: "x-bin", value: "AAEC")
        #expect(MetadataLimit.bytes(of: headers) == 4 + 5 + 4 + 2 + 5 + 4)
    }

    @Test("a call at the limit is served, one byte beyond it says why it is not")
    func limit() async throws {
        let bytes = try await self.metadataBytes()
        for (limit, code) in [(bytes, nil), (bytes - 1, RPCError.Code.resourceExhausted)] {
            try await RunningServer.with {
                $0.edge.metadataBytes = limit
            } _: { server in
                let outcome = try await WireClient.with(server) { client in
                    try await client.stream([try TestEvents.request(1)])
                }
                #expect(outcome.error?.code == code)
                if let error = outcome.error {
                    #expect(error.message.contains("\(bytes) bytes"))
                    let details = try #require(try error.unpackGoogleRPCStatus()).details
                    #expect(details.compactMap(\.errorInfo).map(\.reason) == ["METADATA_TOO_LARGE"])
                    #expect(details.compactMap(\.retryInfo).isEmpty)
                }
            }
        }
    }

    /// Bytes of the metadata that the client sends by itself, as the server tells.
    private func metadataBytes() async throws -> Int {
        let outcome = try await RunningServer.with {
            $0.edge.metadataBytes = 1
        } _: { server in
            try await WireClient.with(server) { try await $0.stream([]) }
        }
        let message = try #require(outcome.error?.message)
        return try #require(message.split(separator: " ").lazy.compactMap { Int($0) }.first)
    }
}

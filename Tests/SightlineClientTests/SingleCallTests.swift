// The single calls of the commands, over loopback.
internal import SightlineClient
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import sightline

@Suite(.timeLimit(.minutes(10)))
struct SingleCallTests {
    @Test("the single calls carry their messages")
    func singleCalls() async throws {
        try await ScriptedServer().run { address in
            let client = TrackingClient(address: address, timeout: .seconds(300))
            let explained = try await client.explain([
                TestEvents.event("e0"), TestEvents.event("e1"),
            ])
            #expect(explained.results.map(\.eventID) == ["e0", "e1"])
            #expect(try await client.inspect(json: "{}", platform: .ios).tracked)
        }
    }

    @Test("a server that is not there is named")
    func unreachable() async throws {
        let address = try ServerAddress("127.0.0.1:1")
        let error = await #expect(throws: TrackingClientError.self) {
            _ = try await TrackingClient(address: address, timeout: .seconds(300)).explain([])
        }
        guard case .unreachable(let target, _, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(target == "127.0.0.1:1")
    }
}

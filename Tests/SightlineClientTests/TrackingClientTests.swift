// The client's shell against a server over loopback: what the pure tests cannot show.
internal import SightlineClient
internal import SightlineProtos
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct TrackingClientTests {
    private let limits = RequestLimits(maxEvents: 2, maxUnacknowledgedRequests: 4)

    private func client(_ address: ServerAddress, giveUpAfter: Duration = .seconds(30))
        -> TrackingClient
    {
        TrackingClient(address: address, limits: self.limits, giveUpAfter: giveUpAfter)
    }

    @Test("all events are settled, each told once")
    func settlesAll() async throws {
        let server = ScriptedServer()
        let told = Mutex<[String]>([])
        try await server.run { address in
            let summary = try await self.client(address).send(try TestEvents.events(0..<9)) {
                progress in
                told.withLock { $0 += progress.outcomes.map(\.result.eventID) }
            }
            #expect(summary.verdicts == [.accepted: 9])
            #expect(summary.reconnectionCount == 0 && summary.resentRequestCount == 0)
        }
        #expect(told.withLock { $0 } == (0..<9).map { "e\($0)" })
    }

    @Test("what was not acked goes again on a new stream, with its sequence")
    func resends() async throws {
        let server = ScriptedServer([.settle(.accepted), .breakOff])
        try await server.run { address in
            let summary = try await self.client(address).send(try TestEvents.events(0..<4))
            #expect(summary.verdicts == [.accepted: 4])
            #expect(summary.reconnectionCount == 1)
        }
        let requests = server.requests
        #expect(requests.map(\.sequence) == [1, 2, 2])
        #expect(requests[1].events == requests[2].events)
        #expect(requests[2].options.reportAccepted)
    }

    @Test("RETRY_LATER goes again with a new sequence")
    func retriesLater() async throws {
        let server = ScriptedServer([.settle(.retryLater)])
        try await server.run { address in
            let summary = try await self.client(address).send(try TestEvents.events(0..<2))
            #expect(summary.verdicts == [.accepted: 2])
        }
        #expect(server.requests.map(\.sequence) == [1, 2])
    }

    @Test("a refused call throws with its details, and is not repeated")
    func refusal() async throws {
        let server = ScriptedServer([.refuse])
        try await server.run { address in
            let error = await #expect(throws: TrackingClientError.self) {
                _ = try await self.client(address).send(try TestEvents.events(0..<2))
            }
            #expect(error?.description.contains("INVALID_ARGUMENT") == true)
            #expect(error?.description.contains("sequence: it must rise") == true)
        }
        #expect(server.requests.count == 1)
    }

    @Test("a silent server makes it give up, and say how many events are unsettled")
    func givesUp() async throws {
        let server = ScriptedServer([.silence])
        try await server.run { address in
            let error = await #expect(throws: TrackingClientError.self) {
                let client = self.client(address, giveUpAfter: .milliseconds(300))
                _ = try await client.send(try TestEvents.events(0..<2))
            }
            guard case .gaveUp(_, let unsettled, let seconds, _) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(unsettled == 2 && seconds == 0.3)
        }
    }

    @Test("the single calls carry their messages")
    func singleCalls() async throws {
        try await ScriptedServer().run { address in
            let events = try TestEvents.events(0..<2).map(\.event)
            let explained = try await self.client(address).explain(events)
            #expect(explained.results.map(\.eventID) == ["e0", "e1"])
            #expect(try await self.client(address).inspect(json: "{}", platform: .ios).tracked)
        }
    }

    @Test("a server that is not there is named")
    func unreachable() async throws {
        let address = try ServerAddress("127.0.0.1:1")
        let error = await #expect(throws: TrackingClientError.self) {
            _ = try await self.client(address).explain([])
        }
        guard case .unreachable(let target, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(target == "127.0.0.1:1")
    }
}

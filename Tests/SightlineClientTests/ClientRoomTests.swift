// How much a client holds, and what happens beyond it.
internal import SightlineClient
internal import SightlineProtos
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct ClientRoomTests {
    /// Longer than any test takes; only a failure waits for it.
    private let patience: Duration = .seconds(300)
    /// An address where nobody listens.
    private let nobody: ServerAddress

    init() throws { self.nobody = try ServerAddress("127.0.0.1:1") }

    @Test("a full client makes trySend fail and send wait for room", arguments: [1, 2])
    func full(limit: Int) async throws {
        try await ScriptedServer().run { address in
            var configuration = RunningClient.configuration(address)
            configuration.maxPendingEvents = limit
            let client = try SightlineClient(configuration)
            // It does not run yet: nothing is settled.
            _ = try await client.send(0..<limit)
            await #expect(throws: SightlineClientError.full) {
                try await client.trySend(TestEvents.event("e"))
            }
            #expect(client.statistics.refusedCount == 1)
            let waiting = Task { try await client.send(TestEvents.event("last")) }
            async let running: Void = client.run()
            #expect(try await waiting.value.verdict == .accepted)
            try await client.close(timeout: self.patience)
            try await running
        }
    }

    @Test("the bytes that it holds are bounded, and a larger event is taken alone")
    func bytes() async throws {
        var configuration = RunningClient.configuration(self.nobody)
        configuration.maxPendingBytes = 12
        let client = try SightlineClient(configuration)
        // Each takes 6 bytes in a request, of which 4 are its own.
        _ = try await client.send(0..<2)
        await #expect(throws: SightlineClientError.full) {
            try await client.trySend(TestEvents.event("e2"))
        }
        let other = try SightlineClient(configuration)
        try await other.trySend(TestEvents.event(String(repeating: "x", count: 100)))
        #expect(other.statistics.pendingCount == 1)
    }

    @Test("whoever is cancelled while it waits for room has sent nothing")
    func cancelledSend() async throws {
        var configuration = RunningClient.configuration(self.nobody)
        configuration.maxPendingEvents = 1
        let client = try SightlineClient(configuration)
        _ = try await client.send(0..<1)
        let waiting = Task { try await client.send(TestEvents.event("e1")) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(client.unacknowledged().map(\.eventID) == ["e0"])
    }

    @Test(
        "results that nobody reads fill the client, by their number and by their bytes",
        arguments: [(2, 8 << 20), (10_000, 12)])
    func unreadResults(events: Int, bytes: Int) async throws {
        try await ScriptedServer().run { address in
            try await RunningClient.with(address) {
                $0.collectsResults = true
                ($0.maxPendingEvents, $0.maxPendingBytes) = (events, bytes)
            } _: { client in
                // Each takes 6 bytes in a request.
                for ticket in try await client.send(0..<2) { _ = try await ticket.result }
                await #expect(throws: SightlineClientError.full) {
                    try await client.trySend(TestEvents.event("e2"))
                }
                var results = client.results.makeAsyncIterator()
                #expect(await results.next()?.number == 1)
                #expect(try await client.trySend(TestEvents.event("e2")).number == 3)
                #expect(await results.next()?.number == 2)
                #expect(await results.next()?.number == 3)
            }
        }
    }

    @Test("who stops iterating leaves the other results to the next one, and two share them")
    func sharedResults() async throws {
        try await ScriptedServer().run { address in
            try await RunningClient.with(address) {
                $0.collectsResults = true
            } _: { client in
                for ticket in try await client.send(0..<4) { _ = try await ticket.result }
                var numbers: [UInt64] = []
                for _ in 0..<2 {
                    for await settled in client.results {
                        numbers.append(settled.number)
                        if numbers.count % 2 == 0 { break }
                    }
                }
                #expect(numbers == [1, 2, 3, 4])
                let readers = (0..<2).map { _ in
                    Task { await client.results.reduce(0) { count, _ in count + 1 } }
                }
                _ = try await client.send(4..<8)
                try await client.close(timeout: self.patience)
                var counts = 0
                for reader in readers { counts += await reader.value }
                #expect(counts == 4)
            }
        }
    }

    @Test("the largest event fits, and one byte more is refused before it is taken")
    func largest() async throws {
        let client = try SightlineClient(RunningClient.configuration(self.nobody))
        let most = RequestLimits.largestRequestByteCount - RequestLimits.requestOverheadByteCount
        // The event's tag and length take 4 bytes, and so do those of its id.
        let event = TestEvents.event(String(repeating: "x", count: most - 8))
        try await client.send(event)
        #expect(client.statistics.pendingByteCount == most)
        var larger = event
        larger.eventID += "x"
        await #expect(throws: SightlineClientError.tooLarge(byteCount: most - 3)) {
            try await client.send(larger)
        }
    }
}
